import type { AppKeyDetails } from "../../app-key.ts";
import { namespaceArg } from "../../args.ts";
import { withContext } from "../../context.ts";
import { formatValue, printList } from "../../output.ts";
import { defineVerb } from "../../verb.ts";

export default defineVerb({
  name: "list",
  description: "List the app keys of a tenant, oldest first",
  args: { namespace: { ...namespaceArg, required: true } },
  examples: ["bodega key list -n demo", "bodega key list -n demo --json"],
  async run(args, io) {
    const { listKeys } = await import("../../../server/modules/app-keys/service.ts");
    const keys = await withContext(args, io, (ctx) => listKeys(ctx, { namespace: args.namespace }));
    await printList(io, keys, {
      id: (key) => key.app_id,
      empty: `There is no key yet. Issue one: bodega key issue -n ${args.namespace} --name <text>`,
      columns: [
        { header: "APP ID", value: (key) => key.app_id, whole: true },
        { header: "NAME", value: (key) => key.name },
        { header: "STATE", value: describeState, whole: true },
        { header: "SCOPES", value: (key) => formatValue(key.scopes) },
        { header: "ORIGINS", value: (key) => (key.enforce_origins ? formatValue(key.origins) : "any") },
        { header: "LAST USED", value: (key) => formatValue(key.last_used_at) },
      ],
    });
  },
});

function describeState(key: AppKeyDetails): string {
  if (key.revoked_at !== null) return "revoked";
  if (key.expires_at !== null && Date.parse(key.expires_at) <= Date.now()) return "expired";
  if (!key.active) return "inactive";
  return key.published ? "published" : "unpublished";
}

import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseTime } from "../../framework/parse-values.ts";
import { info } from "../../terminal/output.ts";
import { deliverKey, secretFileArg } from "./app-key.ts";

export default defineCommand({
  name: "issue",
  description: "Issue an app key to a tenant",
  args: {
    namespace: { ...namespaceArg, required: true },
    name: { type: "string", valueHint: "text", required: true, description: "What the key is for" },
    scope: {
      type: "string",
      valueHint: "scope",
      multiple: true,
      field: "scopes",
      completes: "scope",
      description: "What the key may do, such as products:read (default: everything)",
    },
    publish: { type: "boolean", description: "Publish it at once" },
    expires: {
      type: "string",
      valueHint: "duration|time",
      field: "expires_at",
      description: "When it ends: 90d, or 2030-01-31T00:00:00Z (default: never)",
    },
    "secret-file": secretFileArg,
  },
  examples: [
    "bodega key issue -n demo --name web --publish",
    "bodega key issue -n demo --name import --scope products:read --scope products:write --expires 90d",
    "bodega key issue -n demo --name backend --secret-file backend.secret --json",
  ],
  notes: [
    "A key is issued active and unpublished: calls with it fail until it is published. " +
      "The secret is shown once and stored only as a hash.",
  ],
  async run(args, console) {
    const expiresAt = args.expires === undefined ? undefined : parseTime("--expires", args.expires, Date.now());
    const { issueKey, listKeys } = await import("../../../server/modules/app-keys/service.ts");
    const { namespace, name, publish } = args;
    const scopes = args.scope.length > 0 ? args.scope : undefined;
    let hasNamesake = false;
    const key = await deliverKey(args, console, async (ctx) => {
      const alike = await listKeys(ctx, { namespace, name });
      hasNamesake = alike.some((other) => other.name === name && other.revoked_at === null);
      return issueKey(ctx, { namespace, name, scopes, publish, expiresAt });
    });
    if (hasNamesake) await info(console, "Another key has this name, so that it names neither: use their ids.");
    if (!publish) await info(console, `It is not published yet: bodega key publish ${key.app_id}`);
  },
});

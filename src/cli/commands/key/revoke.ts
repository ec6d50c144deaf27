import { appIdArg, expectedNamespaceArg, printKey, withKey } from "../../app-key.ts";
import { confirmAction } from "../../prompt.ts";
import { defineVerb } from "../../verb.ts";

export default defineVerb({
  name: "revoke",
  description: "End an app key for good",
  args: { app_id: appIdArg, namespace: expectedNamespaceArg },
  examples: [
    "bodega key revoke app_01k8z3v5x2f1rt9m6q7wbn4hcd",
    "bodega key revoke app_01k8z3v5x2f1rt9m6q7wbn4hcd --yes --json",
  ],
  notes: ["It takes effect on the next request, with the server running, and cannot be undone."],
  async run(args, io) {
    await confirmAction(io, `Revoke ${args.app_id}? Every call with it will fail, for good.`);
    const { revokeKey } = await import("../../../server/modules/app-keys/service.ts");
    await printKey(io, await withKey(args, io, (ctx) => revokeKey(ctx, args.app_id)));
  },
});

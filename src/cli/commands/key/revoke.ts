import { withContext } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { confirmAction, requireAnswer } from "../../terminal/prompt.ts";
import { appIdArg, describeKey, expectedNamespaceArg, printKey, withKey } from "./app-key.ts";

export default defineCommand({
  name: "revoke",
  description: "End an app key for good",
  args: { app_id: appIdArg, namespace: expectedNamespaceArg },
  examples: [
    "bodega key revoke app_01k8z3v5x2f1rt9m6q7wbn4hcd",
    "bodega key revoke app_01k8z3v5x2f1rt9m6q7wbn4hcd --yes --json",
  ],
  notes: ["It takes effect on the next request, with the server running, and cannot be undone."],
  async run(args, console) {
    requireAnswer(console, `Revoke ${args.app_id}? Every call with it will fail, for good.`);
    const { getKey, revokeKey } = await import("../../../server/modules/app-keys/service.ts");
    const key = await withKey(args, console, getKey);
    await confirmAction(console, `Revoke ${describeKey(key)}? Every call with it will fail, for good.`);
    await printKey(console, await withContext(args, console, (ctx) => revokeKey(ctx, key.app_id)));
  },
});

import { withContext } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { confirmAction, requireAnswer } from "../../terminal/prompt.ts";
import { appIdArg, expectedNamespaceArg, withKey } from "./args.ts";
import { describeKey, printKey } from "./print.ts";

export default defineCommand({
  name: "revoke",
  description: "Revoke an app key permanently",
  args: { app_id: appIdArg, namespace: expectedNamespaceArg },
  examples: ["bodega key revoke app_01k8z3v5x2f1rt9m6q7wbn4hcd", "bodega key revoke -n demo web --yes"],
  notes: ["Takes effect on the server's next request, and cannot be undone."],
  async run(args, console) {
    requireAnswer(console, `Revoke key ${args.app_id} permanently? All requests with it will fail.`);
    const { getKey, revokeKey } = await import("../../../server/modules/app-keys/service.ts");
    const key = await withKey(args, console, getKey);
    await confirmAction(console, `Revoke key ${describeKey(key)} permanently? All requests with it will fail.`);
    await printKey(console, await withContext(args, console, (ctx) => revokeKey(ctx, key.app_id)));
  },
});

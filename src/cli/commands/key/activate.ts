import { defineCommand } from "../../framework/command.ts";
import { appIdArg, expectedNamespaceArg, withKey } from "./args.ts";
import { printKey } from "./print.ts";

export default defineCommand({
  name: "activate",
  description: "Reactivate an app key",
  args: { app_id: appIdArg, namespace: expectedNamespaceArg },
  examples: ["bodega key activate app_01k8z3v5x2f1rt9m6q7wbn4hcd", "bodega key activate -n demo web"],
  notes: ["Takes effect on the server's next request."],
  async run(args, console) {
    const { activateKey } = await import("../../../server/modules/app-keys/service.ts");
    await printKey(console, await withKey(args, console, activateKey));
  },
});

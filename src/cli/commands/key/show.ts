import { defineCommand } from "../../framework/command.ts";
import { appIdArg, expectedNamespaceArg, withKey } from "./args.ts";
import { printKeySheet } from "./print.ts";

export default defineCommand({
  name: "show",
  description: "Show an app key and the use of its secrets",
  args: { app_id: appIdArg, namespace: expectedNamespaceArg },
  examples: ["bodega key show app_01k8z3v5x2f1rt9m6q7wbn4hcd", "bodega key show -n demo web"],
  notes: [
    "Secrets are stored only as hashes and cannot be shown. Their last use is recorded to the minute. An old secret can " +
      "be retired when the current one is in use, and the old one was not used since then or for a day.",
  ],
  async run(args, console) {
    const { getKey } = await import("../../../server/modules/app-keys/service.ts");
    await printKeySheet(console, await withKey(args, console, getKey), Date.now());
  },
});

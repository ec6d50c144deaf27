import { defineCommand } from "../../framework/command.ts";
import { appIdArg, expectedNamespaceArg, withKey } from "./app-key.ts";
import { printKeySheet } from "./print.ts";

export default defineCommand({
  name: "show",
  description: "Show one app key, when its secrets were used, and which of them may go",
  args: { app_id: appIdArg, namespace: expectedNamespaceArg },
  examples: [
    "bodega key show app_01k8z3v5x2f1rt9m6q7wbn4hcd",
    "bodega key show -n demo web",
    "bodega key show app_01k8z3v5x2f1rt9m6q7wbn4hcd --json",
  ],
  notes: [
    "Secrets themselves are kept nowhere. A use is noted at most once a minute. An old secret may go once the present one " +
      "is in use, and it was not used since that was made, or not for a day.",
  ],
  async run(args, console) {
    const { getKey } = await import("../../../server/modules/app-keys/service.ts");
    await printKeySheet(console, await withKey(args, console, getKey), Date.now());
  },
});

import { withContext } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { info } from "../../terminal/output.ts";
import { confirmAction, requireAnswer } from "../../terminal/prompt.ts";
import { formatRelativeTime } from "../../terminal/relative-time.ts";
import { appIdArg, expectedNamespaceArg, withKey } from "./args.ts";
import { describeKey, printKey } from "./print.ts";

export default defineCommand({
  name: "retire",
  description: "Expire the old secrets of a rotated app key now",
  args: { app_id: appIdArg, namespace: expectedNamespaceArg },
  examples: ["bodega key retire app_01k8z3v5x2f1rt9m6q7wbn4hcd", "bodega key retire -n demo web --yes --json"],
  notes: [
    "Takes effect on the server's next request. The current secret stays valid. To see when old secrets were last used: " +
      "bodega key show <app_id>",
  ],
  async run(args, console) {
    requireAnswer(console, `Expire the old secrets of key ${args.app_id}?`);
    const { getKey } = await import("../../../server/modules/app-keys/service.ts");
    const { retireSecrets } = await import("../../../server/modules/app-keys/rotation.ts");
    const key = await withKey(args, console, getKey);
    const [, ...old] = key.secrets;
    if (old.length > 0) {
      const last =
        old
          .map(({ last_used_at }) => last_used_at ?? "")
          .toSorted()
          .at(-1) || null;
      const used = `Last used: ${formatRelativeTime(last, Date.now())}`;
      await confirmAction(
        console,
        `Expire ${old.length === 1 ? "the old secret" : `${old.length} old secrets`} of key ${describeKey(key)}? ${used}.`,
      );
    }
    const after = await withContext(args, console, (ctx) => retireSecrets(ctx, key.app_id));
    await printKey(console, after);
    if (after.retired === 0) await info(console, "The key has no old secret. Nothing was changed.");
  },
});

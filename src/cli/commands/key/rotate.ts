import { defineCommand } from "../../framework/command.ts";
import { parseDuration } from "../../framework/parse-values.ts";
import { info } from "../../terminal/output.ts";
import { confirmAction, requireAnswer } from "../../terminal/prompt.ts";
import { appIdArg, expectedNamespaceArg, secretFileArg, withKey } from "./args.ts";
import { deliverKey, describeKey } from "./print.ts";

export default defineCommand({
  name: "rotate",
  description: "Replace the secret of an app key",
  args: {
    app_id: appIdArg,
    overlap: {
      type: "string",
      valueHint: "duration",
      default: "0",
      description: "How long old secrets stay valid, such as 24h",
    },
    "secret-file": secretFileArg,
    namespace: expectedNamespaceArg,
  },
  examples: [
    "bodega key rotate app_01k8z3v5x2f1rt9m6q7wbn4hcd --overlap 24h",
    "bodega key rotate app_01k8z3v5x2f1rt9m6q7wbn4hcd --yes --secret-file backend.secret",
  ],
  notes: [
    "Without --overlap the old secrets expire immediately, and requests with them fail. Use that after a leak. It needs a " +
      "confirmation or --yes.",
  ],
  async run(args, console) {
    const overlapMs = parseDuration("--overlap", args.overlap);
    const { requireOverlap, rotateKey } = await import("../../../server/modules/app-keys/rotation.ts");
    requireOverlap(overlapMs);
    const { getKey } = await import("../../../server/modules/app-keys/service.ts");
    const question = (key: string) =>
      `Expire the current secret of key ${key} immediately? With --overlap 24h it stays valid for a day.`;
    if (overlapMs === 0) requireAnswer(console, question(args.app_id));
    const key = await withKey(args, console, getKey);
    if (overlapMs === 0) await confirmAction(console, question(describeKey(key)));
    await deliverKey(args, console, (ctx) => rotateKey(ctx, { appId: key.app_id, overlapMs }));
    if (overlapMs === 0) return info(console, "The old secrets have expired.");
    await info(
      console,
      `The old secrets expire in ${args.overlap}. To expire them now: bodega key retire ${key.app_id}`,
    );
  },
});

import { appIdArg, deliverSecret, describeKey, expectedNamespaceArg, secretFileArg, withKey } from "../../app-key.ts";
import { withContext } from "../../context.ts";
import { parseDuration } from "../../duration.ts";
import { remark } from "../../output.ts";
import { confirmAction } from "../../prompt.ts";
import { defineVerb } from "../../verb.ts";

export default defineVerb({
  name: "rotate",
  description: "Give an app key a new secret",
  args: {
    app_id: appIdArg,
    overlap: {
      type: "string",
      valueHint: "span",
      default: "0",
      description: "How long the old secrets stay valid, such as 24h",
    },
    "secret-file": secretFileArg,
    namespace: expectedNamespaceArg,
  },
  examples: [
    "bodega key rotate app_01k8z3v5x2f1rt9m6q7wbn4hcd --overlap 24h",
    "bodega key rotate app_01k8z3v5x2f1rt9m6q7wbn4hcd --secret-file backend.secret",
  ],
  notes: ["Without --overlap the old secrets end at once: right after a leak, and an outage for callers otherwise."],
  async run(args, io) {
    const overlapMs = parseDuration("--overlap", args.overlap);
    const { requireOverlap, rotateKey } = await import("../../../server/modules/app-keys/rotation.ts");
    requireOverlap(overlapMs);
    const { getKey } = await import("../../../server/modules/app-keys/service.ts");
    const key = await withKey(args, io, getKey);
    if (overlapMs === 0 && io.canAsk) {
      const question = `End the present secret of ${describeKey(key)} at once?`;
      await confirmAction(io, `${question} --overlap 24h would give its callers a day.`);
    }
    await deliverSecret(io, args["secret-file"], () =>
      withContext(args, io, (ctx) => rotateKey(ctx, { appId: key.app_id, overlapMs })),
    );
    if (overlapMs === 0) return remark(io, "The old secrets have ended.");
    await remark(io, `The old secrets end in ${args.overlap}; sooner with: bodega key retire ${key.app_id}`);
  },
});

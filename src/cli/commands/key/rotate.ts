import { appIdArg, deliverSecret, expectedNamespaceArg, secretFileArg, withKey } from "../../app-key.ts";
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
    if (overlapMs === 0 && io.canAsk) {
      await confirmAction(
        io,
        `End the present secret of ${args.app_id} at once? --overlap 24h would give its callers a day.`,
      );
    }
    const { rotateKey } = await import("../../../server/modules/app-keys/rotation.ts");
    await deliverSecret(io, args["secret-file"], () =>
      withKey(args, io, (ctx) => rotateKey(ctx, { appId: args.app_id, overlapMs })),
    );
    await remark(io, `The old secrets ${overlapMs === 0 ? "have ended" : `end in ${args.overlap}`}.`);
  },
});

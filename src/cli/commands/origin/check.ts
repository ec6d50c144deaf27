import { defineCommand } from "../../framework/command.ts";
import { completeCommand } from "../../terminal/command-line.ts";
import { printJson } from "../../terminal/output.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { appIdArg, expectedNamespaceArg, withKey } from "../key/args.ts";
import { printVerdict } from "./print.ts";

export default defineCommand({
  name: "check",
  description: "Check whether an origin may use a key",
  args: {
    app_id: appIdArg,
    origin: { type: "positional", required: false, description: "The Origin header, such as https://shop.example.com" },
    none: { type: "boolean", description: "Check a request without an Origin header" },
    namespace: expectedNamespaceArg,
  },
  oneOf: {
    question: "Which request should be checked?",
    ways: {
      origin: "from a page of a website",
      none: "from a server or an app, without an Origin header",
    },
  },
  examples: [
    "bodega origin check app_01k8z3v5x2f1rt9m6q7wbn4hcd https://shop.example.com",
    "bodega origin check -n demo web https://shop.example.com",
    "bodega origin check app_01k8z3v5x2f1rt9m6q7wbn4hcd --none --json",
  ],
  notes: [
    "The exit code is 0 when the request is allowed, otherwise 1.",
    "Also shows the result of each list entry, what to do, and the origins that were rejected for this key in the last " +
      "30 days. Only requests with the correct secret are counted.",
  ],
  async run(args, console) {
    if ((args.origin === undefined) !== args.none) {
      throw new UsageError("Give either <origin> or --none.", {
        details: [{ field: "<origin>", message: "is required, or --none" }],
      });
    }
    const { explainOrigin } = await import("../../../server/modules/app-keys/origin-explanation.ts");
    const origin = args.origin ?? null;
    const verdict = await withKey(args, console, (ctx, appId) => explainOrigin(ctx, { appId, origin }));
    const advice = verdict.advice && completeCommand(verdict.advice, console.command);
    if (console.json) await printJson(console, { ...verdict, advice });
    else await printVerdict(console, verdict, Date.now());
    return verdict.allowed ? 0 : 1;
  },
});

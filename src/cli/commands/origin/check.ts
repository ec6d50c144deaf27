import { defineCommand } from "../../framework/command.ts";
import { completeCommand } from "../../terminal/command-line.ts";
import { printJson } from "../../terminal/output.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { appIdArg, expectedNamespaceArg, withKey } from "../key/app-key.ts";
import { printVerdict } from "./print.ts";

export default defineCommand({
  name: "check",
  description: "Say whether a key may be used from an origin, and why",
  args: {
    app_id: appIdArg,
    origin: { type: "positional", required: false, description: "The Origin header, such as https://shop.example.com" },
    none: { type: "boolean", description: "Check a request that sends no Origin" },
    namespace: expectedNamespaceArg,
  },
  oneOf: {
    question: "Who calls?",
    ways: {
      origin: "a page of a website",
      none: "a server or an app, which sends no Origin",
    },
  },
  examples: [
    "bodega origin check app_01k8z3v5x2f1rt9m6q7wbn4hcd https://shop.example.com",
    "bodega origin check -n demo web https://shop.example.com",
    "bodega origin check app_01k8z3v5x2f1rt9m6q7wbn4hcd --none --json",
  ],
  notes: [
    "The exit code is 0 when it is allowed and 1 when it is not.",
    "Below the verdict stands what each entry of the list makes of the origin, what to do, and which origins the server has " +
      "refused to this key in the last thirty days. Only calls with the right secret are among these.",
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

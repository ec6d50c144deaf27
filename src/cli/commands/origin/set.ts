import { defineCommand } from "../../framework/command.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { appIdArg, expectedNamespaceArg, withKey } from "../key/args.ts";
import { originsArg, printOrigins } from "./print.ts";

export default defineCommand({
  name: "set",
  description: "Replace a key's origin allowlist and enforce it",
  args: {
    app_id: appIdArg,
    origin: { ...originsArg, required: false },
    "allow-no-origin": { type: "boolean", description: "Allow requests without an Origin header, as servers send" },
    any: { type: "boolean", description: "Allow every origin: empty the list and stop enforcing it" },
    namespace: expectedNamespaceArg,
  },
  oneOf: {
    question: "Who may use the key?",
    ways: {
      origin: "pages of certain websites",
      "allow-no-origin": "servers and apps only, which send no Origin header",
      any: "everyone: the list is emptied and not enforced",
    },
  },
  examples: [
    "bodega origin set app_01k8z3v5x2f1rt9m6q7wbn4hcd shop.example.com '*.example.org'",
    "bodega origin set app_01k8z3v5x2f1rt9m6q7wbn4hcd --allow-no-origin",
    "bodega origin set app_01k8z3v5x2f1rt9m6q7wbn4hcd --any",
  ],
  notes: [
    "Requests without an Origin header are rejected without --allow-no-origin. With only that flag, no browser can use " +
      "the key.",
  ],
  async run(args, console) {
    const { any, origin: origins, "allow-no-origin": allowNoOrigin } = args;
    if (any && (origins.length > 0 || allowNoOrigin))
      throw new UsageError("--any cannot be combined with origins or --allow-no-origin.");
    if (!any && origins.length === 0 && !allowNoOrigin) {
      throw new UsageError("Missing <origin...>.", {
        hint: "To allow every origin, use --any.",
        details: [{ field: "<origin...>", message: "is required, or --allow-no-origin, or --any" }],
      });
    }
    const { setOrigins } = await import("../../../server/modules/app-keys/origins.ts");
    const input = { origins, allowNoOrigin, enforce: !any };
    await printOrigins(console, await withKey(args, console, (ctx, appId) => setOrigins(ctx, { appId, ...input })));
  },
});

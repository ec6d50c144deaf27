import { defineCommand } from "../../framework/command.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { appIdArg, expectedNamespaceArg, withKey } from "../key/app-key.ts";
import { originsArg, printOrigins } from "./print.ts";

export default defineCommand({
  name: "set",
  description: "Replace a key's list of origins, and enforce it",
  args: {
    app_id: appIdArg,
    origin: { ...originsArg, required: false },
    "allow-no-origin": { type: "boolean", description: "Also allow requests that send no Origin, as servers do" },
    any: { type: "boolean", description: "Empty the list and stop enforcing it: every origin may use the key" },
    namespace: expectedNamespaceArg,
  },
  oneOf: {
    question: "Who may use the key?",
    ways: {
      origin: "pages of websites that you name",
      "allow-no-origin": "servers and apps only, which send no Origin",
      any: "everybody: the list is emptied and not enforced",
    },
  },
  examples: [
    "bodega origin set app_01k8z3v5x2f1rt9m6q7wbn4hcd shop.example.com '*.example.org'",
    "bodega origin set app_01k8z3v5x2f1rt9m6q7wbn4hcd --allow-no-origin",
    "bodega origin set app_01k8z3v5x2f1rt9m6q7wbn4hcd --any",
  ],
  notes: [
    "Requests without an Origin are refused unless --allow-no-origin is given; " +
      "with that flag alone, only they are allowed, so that no browser can use the key.",
  ],
  async run(args, console) {
    const { any, origin: origins, "allow-no-origin": allowNoOrigin } = args;
    if (any && (origins.length > 0 || allowNoOrigin))
      throw new UsageError("--any goes with no origin and no other flag.");
    if (!any && origins.length === 0 && !allowNoOrigin) {
      throw new UsageError("Missing <origin...>.", {
        hint: "To open the key to every origin, give --any.",
        details: [{ field: "<origin...>", message: "is required, or --allow-no-origin, or --any" }],
      });
    }
    const { setOrigins } = await import("../../../server/modules/app-keys/origins.ts");
    const input = { origins, allowNoOrigin, enforce: !any };
    await printOrigins(console, await withKey(args, console, (ctx, appId) => setOrigins(ctx, { appId, ...input })));
  },
});

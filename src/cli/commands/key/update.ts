import { defineCommand } from "../../framework/command.ts";
import { parseTime } from "../../framework/parse-values.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { appIdArg, expectedNamespaceArg, withKey } from "./args.ts";
import { printKeySheet } from "./print.ts";

export default defineCommand({
  name: "update",
  description: "Update the name, permissions or expiry of an app key",
  args: {
    app_id: appIdArg,
    name: { type: "string", valueHint: "text", description: "Name of the key" },
    scope: {
      type: "string",
      valueHint: "scope",
      multiple: true,
      field: "scopes",
      completes: "scope",
      description: "Permission, such as products:read; replaces all current ones, * means all",
    },
    expires: {
      type: "string",
      valueHint: "duration|time|never",
      field: "expires_at",
      description: "Expiry: 90d (from now), 2030-01-31T00:00:00Z, or never",
    },
    namespace: expectedNamespaceArg,
  },
  examples: [
    "bodega key update app_01k8z3v5x2f1rt9m6q7wbn4hcd --expires 90d",
    "bodega key update -n demo import --scope products:read --scope products:write",
    "bodega key update -n demo web --name storefront --expires never --json",
  ],
  notes: ["Takes effect on the server's next request. Fields without a flag keep their value."],
  async run(args, console) {
    const now = Date.now();
    const { name, scope, expires } = args;
    if (name === undefined && scope.length === 0 && expires === undefined) {
      throw new UsageError("Nothing to change.", { hint: "Give at least one of --name, --scope and --expires." });
    }
    const patch = {
      name,
      ...(scope.length > 0 && { scopes: scope }),
      ...(expires !== undefined && { expiresAt: expires === "never" ? null : parseTime("--expires", expires, now) }),
    };
    const { updateKey } = await import("../../../server/modules/app-keys/update.ts");
    await printKeySheet(console, await withKey(args, console, (ctx, appId) => updateKey(ctx, appId, patch)), now);
  },
});

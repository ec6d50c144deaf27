import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { limitArg, noteLimit, requiredNamespaceArg, userFilterArg } from "../../framework/list-args.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { formatValue, printList } from "../../terminal/output.ts";

export default defineCommand({
  name: "list",
  description: "List the user tokens of a store, newest first",
  args: {
    namespace: requiredNamespaceArg,
    user: userFilterArg,
    "all-states": { type: "boolean", description: "Include expired and revoked tokens" },
    limit: limitArg("1000"),
  },
  examples: ["bodega token list -n demo", "bodega token list -n demo --user ada@example.com --all-states --json"],
  notes: ["Only a hash of a token is stored, so the token itself cannot be shown."],
  async run(args, console) {
    const { listTokens } = await import("../../../server/modules/tokens/list.ts");
    const { resolveUserId } = await import("../../../server/modules/users/resolve.ts");
    const limit = parseCount("--limit", args.limit);
    const tokens = await withTenant(args, console, async (ctx) => {
      const userId = args.user === undefined ? undefined : await resolveUserId(ctx, args.user);
      return listTokens(ctx, { userId, allStates: args["all-states"], limit });
    });
    await printList(console, tokens, {
      id: (token) => token.token_id,
      empty: "No user tokens found.",
      columns: [
        { header: "TOKEN ID", value: (token) => token.token_id, whole: true },
        { header: "USER", value: (token) => token.user_id },
        { header: "EMAIL", value: (token) => formatValue(token.email) },
        { header: "STATE", value: (token) => token.state, state: true },
        { header: "CREATED", value: (token) => token.created_at },
        { header: "EXPIRES", value: (token) => token.expires_at },
      ],
    });
    if (tokens.length === limit) await noteLimit(console, limit);
  },
});

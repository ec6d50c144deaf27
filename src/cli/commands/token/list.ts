import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { formatValue, info, printList } from "../../terminal/output.ts";
import { userNamespaceArg } from "../user/args.ts";

export default defineCommand({
  name: "list",
  description: "List the user tokens of a tenant, newest first",
  args: {
    namespace: userNamespaceArg,
    user: { type: "string", valueHint: "id|email", completes: "user", description: "Only of this user" },
    "all-states": { type: "boolean", description: "Also those that have ended" },
    limit: { type: "string", valueHint: "number", default: "1000", description: "How many at most" },
  },
  examples: ["bodega token list -n demo", "bodega token list -n demo --user ada@example.com --all-states --json"],
  notes: ["A token itself is shown to nobody but the user who signs in; only a hash of it is kept."],
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
      empty: "Nobody is signed in.",
      columns: [
        { header: "TOKEN ID", value: (token) => token.token_id, whole: true },
        { header: "USER", value: (token) => token.user_id },
        { header: "EMAIL", value: (token) => formatValue(token.email) },
        { header: "STATE", value: (token) => token.state, state: true },
        { header: "CREATED", value: (token) => token.created_at },
        { header: "EXPIRES", value: (token) => token.expires_at },
      ],
    });
    if (tokens.length === limit) await info(console, `There may be more than ${limit}: give a greater --limit.`);
  },
});

import { withTenant } from "../../context/context.ts";
import { limitArg, userFilterArg } from "../../context/list-args.ts";
import { defineList } from "../../context/store-command.ts";
import { requiredNamespaceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { findUser } from "../user/user.ts";

const service = () => import("../../../server/modules/tokens/service.ts");

export const listCommand = defineList({
  description: "List the user tokens of a store, newest first",
  args: {
    user: userFilterArg,
    "all-states": { type: "boolean", description: "Include expired and revoked tokens" },
    limit: limitArg("1000"),
  },
  examples: ["bodega token list -n demo", "bodega token list -n demo --user ada@example.com --all-states --json"],
  notes: ["Only a hash of a token is stored, so the token itself cannot be shown."],
  rows: async (ctx, { user, limit, "all-states": allStates }) =>
    (await service()).listTokens(ctx, { userId: await findUser(ctx, user), allStates, limit }),
  empty: "No user tokens found.",
  columns: [
    "token_id",
    { header: "USER", value: ({ email, user_id }) => email ?? user_id },
    ...(["state", "created_at", "expires_at"] as const),
  ],
});

export const revokeCommand = defineCommand({
  description: "Revoke user tokens, so that users must sign in again",
  args: {
    namespace: requiredNamespaceArg,
    "token-id": valueArg("id", "Revoke this token"),
    user: valueArg("id|email", "Revoke all tokens of this user", { completes: "user" }),
    all: { type: "boolean", description: "Revoke all tokens of the store" },
  },
  oneOf: ["user", "token-id", "all"],
  examples: ["bodega token revoke -n demo --user ada@example.com", "bodega token revoke -n demo --all --yes"],
  notes: ["The server applies this to its next request. These users' devices get no more notifications about orders."],
  done: "Revoked {revoked token}.",
  async run(args, console) {
    const { user, all, "token-id": tokenId, namespace } = args;
    const question = `Revoke every user token of store ${namespace}? All users must sign in again.`;
    if (all) await confirmAction(console, question);
    const { revokeToken, revokeTokensOf } = await service();
    const revoked = await withTenant(args, console, async (ctx) => {
      if (tokenId !== undefined) return revokeToken(ctx, tokenId);
      return revokeTokensOf(ctx, (await findUser(ctx, user)) ?? null);
    });
    await printRecord(console, { revoked });
  },
});

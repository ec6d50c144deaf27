import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { printRecord } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { UsageError } from "../../terminal/usage-error.ts";

export default defineCommand({
  name: "revoke",
  description: "Revoke user tokens, so that users must sign in again",
  args: {
    namespace: requiredNamespaceArg,
    "token-id": { type: "string", valueHint: "id", description: "Revoke this token" },
    user: { type: "string", valueHint: "id|email", completes: "user", description: "Revoke all tokens of this user" },
    all: { type: "boolean", description: "Revoke all tokens of the store" },
  },
  oneOf: {
    question: "Which tokens should be revoked?",
    ways: {
      user: "all tokens of a user",
      "token-id": "one token",
      all: "all tokens of the store",
    },
  },
  examples: [
    "bodega token revoke -n demo --user ada@example.com",
    "bodega token revoke -n demo --token-id tok_01k8z3v5x2f1rt9m6q7wbn4hcd --json",
    "bodega token revoke -n demo --all --yes",
  ],
  notes: ["Takes effect on the server's next request."],
  async run(args, console) {
    const { user, all, "token-id": tokenId } = args;
    if ([tokenId !== undefined, user !== undefined, all].filter(Boolean).length !== 1) {
      throw new UsageError("Give exactly one of --token-id, --user and --all.");
    }
    if (all)
      await confirmAction(console, `Revoke every user token of store ${args.namespace}? All users must sign in again.`);
    const { revokeAllTokens, revokeToken, revokeTokensOf } = await import("../../../server/modules/tokens/service.ts");
    const { resolveUserId } = await import("../../../server/modules/users/resolve.ts");
    const revoked = await withTenant(args, console, async (ctx) => {
      if (tokenId !== undefined) return revokeToken(ctx, tokenId);
      if (user !== undefined) return revokeTokensOf(ctx, await resolveUserId(ctx, user));
      return revokeAllTokens(ctx);
    });
    await printRecord(console, { revoked }, "revoked");
  },
});

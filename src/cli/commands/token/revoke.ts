import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { userNamespaceArg } from "../user/args.ts";

export default defineCommand({
  name: "revoke",
  description: "End user tokens, so that their users must sign in again",
  args: {
    namespace: userNamespaceArg,
    "token-id": { type: "string", valueHint: "id", description: "This one" },
    user: { type: "string", valueHint: "id|email", completes: "user", description: "Those of this user" },
    all: { type: "boolean", description: "Those of everybody" },
  },
  oneOf: {
    question: "Whose tokens?",
    ways: {
      user: "those of one user",
      "token-id": "one token",
      all: "those of everybody",
    },
  },
  examples: [
    "bodega token revoke -n demo --user ada@example.com",
    "bodega token revoke -n demo --token-id tok_01k8z3v5x2f1rt9m6q7wbn4hcd --json",
    "bodega token revoke -n demo --all --yes",
  ],
  notes: ["It takes effect on the next request, with the server running."],
  async run(args, console) {
    const { user, all, "token-id": tokenId } = args;
    if ([tokenId !== undefined, user !== undefined, all].filter(Boolean).length !== 1) {
      throw new UsageError("Give exactly one of --token-id, --user and --all.");
    }
    if (all) await confirmAction(console, `End every token of ${args.namespace}? Every user must sign in again.`);
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

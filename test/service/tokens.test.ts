import { expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import {
  endOwnToken,
  issueToken,
  listTokens,
  purgeTokens,
  refreshSession,
  revokeToken,
  revokeTokensOf,
  verifyToken,
} from "../../src/server/modules/tokens/service.ts";
import { openAccount } from "../support/account.ts";
import { tenantContext } from "../support/factories.ts";
import { onEachDatabase } from "../support/suite.ts";

const day = 86_400_000;

onEachDatabase((suite) => {
  const { onFile } = suite;
  /** Creates a user with a token. Returns functions for this user. */
  async function openHolder() {
    const shop = await suite.shop();
    const ctx = await tenantContext(shop);
    const { id: userId } = await openAccount(shop);
    const issue = () => inTransaction(ctx, (tx) => issueToken(tx, userId));
    const issued = await issue();
    const codeOf = (token: string): Promise<number | undefined> =>
      verifyToken(ctx, { tenantId: ctx.tenant.id, userId, token }).then(
        () => undefined,
        ({ code }) => code,
      );
    /** Returns a context in which the user calls with this token. */
    const as = ({ tokenId } = issued): Ctx => ({ ...ctx, actor: { kind: "user", userId, role: "customer", tokenId } });
    return { ctx, userId, issue, issued, codeOf, as };
  }

  const statesOf = async (ctx: Ctx, userId: string) =>
    (await listTokens(ctx, { userId, allStates: true })).map(({ state }) => state);

  test("of twenty concurrent rotations of one token from two processes, only one succeeds", async () => {
    const { ctx, as, userId, codeOf } = await openHolder();
    const elsewhere = { ...as(), db: await suite.database.openAgain() };
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        refreshSession(n % 2 ? elsewhere : as()).catch(({ code }: { code: number }) => code),
      ),
    );
    const won = results.filter((result) => typeof result === "object");
    expect(won).toHaveLength(1);
    expect(results.filter((result) => result === 5214)).toHaveLength(19);
    expect(await codeOf(won[0]?.token as string)).toBeUndefined();
    expect((await statesOf(ctx, userId)).filter((state) => state === "active")).toHaveLength(1);
  });

  test("if two processes issue twenty tokens to one user at once, only one token is active", async () => {
    const { ctx, userId, codeOf } = await openHolder();
    const elsewhere = { ...ctx, db: await suite.database.openAgain() };
    const issued = await Promise.all(
      Array.from({ length: 20 }, (_, n) => inTransaction(n % 2 ? elsewhere : ctx, (tx) => issueToken(tx, userId))),
    );
    const codes = await Promise.all(issued.map(({ token }) => codeOf(token)));
    expect(codes.filter((code) => code === undefined)).toHaveLength(1);
    expect(codes.filter((code) => code === 5207)).toHaveLength(19);
  });

  onFile("an expired token is distinguished from an unknown one for 400 days", async () => {
    const { clock } = suite.app;
    const { ctx, issued, codeOf } = await openHolder();
    clock.advance(430 * day - 1);
    await purgeTokens(ctx);
    expect(await codeOf(issued.token)).toBe(5207);
    clock.advance(1);
    expect(await purgeTokens(ctx)).toBeGreaterThanOrEqual(1);
    expect(await codeOf(issued.token)).toBe(5205);
    expect(await purgeTokens(ctx)).toBe(0);
  });

  onFile("the audit log has changes of tokens with the user and the token's id, but without the token", async () => {
    const { ctx, userId, as, issue } = await openHolder();
    await refreshSession(as());
    await endOwnToken(as(await issue()));
    await revokeToken(ctx, (await issue()).tokenId);
    await issue();
    await revokeTokensOf(ctx, userId);
    await revokeTokensOf(ctx, null);
    const sql =
      "select event, subject, details from audit_log where namespace = ? and event like 'token.%' order by seq";
    const { rows } = await ctx.db.execute({ sql, args: [ctx.tenant.namespace] });
    expect(rows.map(({ event, subject }) => [event, subject])).toEqual([
      ["token.refreshed", userId],
      ["token.revoked", userId],
      ["token.revoked", userId],
      ["token.revoked", userId],
      ["token.revoked", null],
    ]);
    expect(JSON.stringify(rows)).not.toContain("v2.");
  });
});

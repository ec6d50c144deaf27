import { expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import {
  endOwnToken,
  type IssuedToken,
  issueToken,
  listTokens,
  purgeTokens,
  revokeToken,
  revokeTokens,
  revokeTokensOf,
  rotateToken,
  spendToken,
  verifyToken,
} from "../../src/server/modules/tokens/service.ts";
import { openAccount } from "../support/account.ts";
import { type Shop, tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { onEachDatabase } from "../support/suite.ts";

const day = 86_400_000;

onEachDatabase((suite) => {
  /** A user of a store with a token, and functions for them. */
  async function openHolder(shop?: Shop) {
    const of = shop ?? (await suite.shop());
    const ctx = await tenantContext(of);
    const { id: userId } = await openAccount(of);
    const issue = () => inTransaction(ctx, (tx) => issueToken(tx, userId));
    const issued = await issue();
    const judge = (token: string, more: { tenantId?: string; userId?: string } = {}) =>
      verifyToken(ctx, { tenantId: ctx.tenant.id, userId, token, ...more });
    const codeOf = async (token: string, more = {}) => {
      try {
        await judge(token, more);
        return undefined;
      } catch (error) {
        return (error as { code: number }).code;
      }
    };
    const own = { userId, tokenId: issued.tokenId };
    return { shop: of, ctx, userId, issue, issued, judge, codeOf, own };
  }

  /** All rows of tokens in the database, as text. */
  async function everyRow(ctx: Ctx): Promise<string> {
    const sql = "select * from user_tokens where tenant_id = ?";
    return JSON.stringify((await ctx.db.execute({ sql, args: [ctx.tenant.id] })).rows);
  }

  const statesOf = async (ctx: Ctx, userId: string) =>
    (await listTokens(ctx, { userId, allStates: true })).map(({ state }) => state);

  test("a token is v2. and 256 random bits, authenticates its user, and is stored as a hash only", async () => {
    const { ctx, issued, judge, userId, own } = await openHolder();
    expect(issued.token).toMatch(/^v2\.[A-Za-z0-9_-]{43}$/);
    expect(await judge(issued.token)).toEqual({ ...own, userId, role: "customer" });
    expect(await everyRow(ctx)).not.toContain(issued.token.slice(3));
  });

  suite.testOnFile("a token is valid for its user and store only, and unchanged", async () => {
    const { issued, codeOf, shop } = await openHolder();
    const [neighbour, stranger] = [await openHolder(shop), await openHolder()];
    const { token } = issued;
    expect(await codeOf(token)).toBeUndefined();
    expect(await codeOf(token, { userId: neighbour.userId })).toBe(5205);
    expect(await codeOf(token, { userId: "" })).toBe(5205);
    expect(await codeOf(token, { tenantId: stranger.ctx.tenant.id })).toBe(5205);
    expect(await codeOf(stranger.issued.token)).toBe(5205);
    expect(await codeOf(token.slice(0, -1))).toBe(5205);
    expect(await codeOf(token.toLowerCase())).toBe(5205);
    expect(await codeOf(`${token} `)).toBe(5205);
  });

  suite.testOnFile("one token is active per user, and each ended one is kept with the reason", async () => {
    const { ctx, userId, issued, issue, codeOf } = await openHolder();
    const second = await issue();
    expect([await codeOf(issued.token), await codeOf(second.token)]).toEqual([5207, undefined]);
    const third = await rotateToken(ctx, { userId, tokenId: second.tokenId });
    expect([await codeOf(second.token), await codeOf(third.token)]).toEqual([5207, undefined]);
    await endOwnToken(ctx, { userId, tokenId: third.tokenId });
    expect(await codeOf(third.token)).toBe(5207);
    expect(await statesOf(ctx, userId)).toEqual(["revoked", "rotated", "replaced", "replaced"]);
  });

  suite.testOnFile(
    "a disabled user's token is 5207, and valid again once they are enabled; a deleted user's stays 5207",
    async () => {
      const { ctx, userId, issued, codeOf, own } = await openHolder();
      const change = (sql: string) => ctx.db.execute({ sql, args: [userId] });
      await change("update users set status = 'disabled' where id = ?");
      expect(await codeOf(issued.token)).toBe(5207);
      expect(await failureOf(rotateToken(ctx, own))).toMatchObject({ code: 5214 });
      await change("update users set status = 'active' where id = ?");
      expect(await codeOf(issued.token)).toBeUndefined();
      await change("delete from users where id = ?");
      expect(await codeOf(issued.token)).toBe(5207);
      expect(await failureOf(rotateToken(ctx, own))).toMatchObject({ code: 5214 });
    },
  );

  suite.testOnFile("a token that has ended or expired cannot be rotated, ended or used", async () => {
    const { clock } = suite.app;
    const ways: ((holder: Awaited<ReturnType<typeof openHolder>>) => unknown)[] = [
      ({ issue }) => issue(),
      ({ ctx, own }) => rotateToken(ctx, own),
      ({ ctx, own }) => endOwnToken(ctx, own),
      ({ ctx, own }) => revokeToken(ctx, own.tokenId),
      () => clock.advance(30 * day),
    ];
    for (const end of ways) {
      const holder = await openHolder();
      const { ctx, own } = holder;
      await end(holder);
      expect(await failureOf(rotateToken(ctx, own))).toMatchObject({ code: 5214 });
      expect(await failureOf(endOwnToken(ctx, own))).toMatchObject({ code: 5214 });
      expect(await inTransaction(ctx, (tx) => spendToken(tx, own, "rotated"))).toBe(false);
    }
  });

  suite.testOnFile("a token is spent for its own user and store only", async () => {
    const { ctx, own, shop, issued, codeOf } = await openHolder();
    const [neighbour, stranger] = [await openHolder(shop), await openHolder()];
    expect(await failureOf(rotateToken(ctx, { ...own, userId: neighbour.userId }))).toMatchObject({ code: 5214 });
    expect(await failureOf(rotateToken(stranger.ctx, own))).toMatchObject({ code: 5214 });
    expect(await failureOf(revokeToken(stranger.ctx, own.tokenId))).toMatchObject({ code: 5301 });
    expect(await revokeTokensOf(stranger.ctx, own.userId)).toBe(0);
    await revokeTokensOf(stranger.ctx, null);
    expect(await codeOf(issued.token)).toBeUndefined();
  });

  test("of fifty concurrent rotations of one token from two processes, one succeeds", async () => {
    const { ctx, own, userId, codeOf } = await openHolder();
    const elsewhere = { ...ctx, db: await suite.database.openAgain() };
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        rotateToken(n % 2 ? elsewhere : ctx, own).catch((error: { code: number }) => error.code),
      ),
    );
    const won = results.filter((result): result is IssuedToken => typeof result === "object");
    expect(won).toHaveLength(1);
    expect(results.filter((result) => result === 5214)).toHaveLength(49);
    expect(await codeOf((won[0] as IssuedToken).token)).toBeUndefined();
    expect((await statesOf(ctx, userId)).filter((state) => state === "active")).toHaveLength(1);
  });

  test("of fifty tokens issued at once to one user by two processes, one is active", async () => {
    const { ctx, userId, codeOf } = await openHolder();
    const elsewhere = { ...ctx, db: await suite.database.openAgain() };
    const issued = await Promise.all(
      Array.from({ length: 50 }, (_, n) => inTransaction(n % 2 ? elsewhere : ctx, (tx) => issueToken(tx, userId))),
    );
    const codes = await Promise.all(issued.map(({ token }) => codeOf(token)));
    expect(codes.filter((code) => code === undefined)).toHaveLength(1);
    expect(codes.filter((code) => code === 5207)).toHaveLength(49);
  });

  suite.testOnFile("revoking counts valid tokens, and a second time returns 0", async () => {
    const { clock } = suite.app;
    const { ctx, own, userId, shop, codeOf, issued } = await openHolder();
    expect(await revokeToken(ctx, own.tokenId)).toBe(1);
    expect(await codeOf(issued.token)).toBe(5207);
    expect(await revokeToken(ctx, own.tokenId)).toBe(0);
    expect(await revokeTokensOf(ctx, userId)).toBe(0);
    expect(await failureOf(revokeToken(ctx, "tok_unknown"))).toMatchObject({ code: 5301 });
    const neighbour = await openHolder(shop);
    expect(await revokeTokensOf(neighbour.ctx, neighbour.userId)).toBe(1);
    const others = [await openHolder(shop), await openHolder(shop)];
    expect(await revokeTokensOf(ctx, null)).toBe(2);
    for (const { codeOf, issued } of others) expect(await codeOf(issued.token)).toBe(5207);
    const old = await openHolder(shop);
    clock.advance(30 * day);
    expect(await revokeToken(ctx, old.own.tokenId)).toBe(0);
    expect(await inTransaction(ctx, (tx) => revokeTokens(tx, userId, "revoked"))).toBe(0);
  });

  suite.testOnFile("an expired token is distinguished from an unknown one for 400 days", async () => {
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

  suite.testOnFile("changes of tokens are audited with the user and the token's id, never the token", async () => {
    const { ctx, userId, own, issue } = await openHolder();
    const { tokenId } = await rotateToken(ctx, own);
    await endOwnToken(ctx, { userId, tokenId });
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

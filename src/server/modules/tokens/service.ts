import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import type { Session } from "../../db/session.ts";
import { all, get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { notFound, userTokenInvalid } from "../../errors.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { recordAudit } from "../audit/service.ts";
import { users } from "../users/table.ts";
import { userTokens } from "./table.ts";
import { hashToken, newToken } from "./token.ts";

const ofUser = sql`tenant_id = ${param("tenantId")} and user_id = ${param("userId")}`;
/** How long a token is remembered after it would have run out: using it is tokenExpired until then, and tokenNotFound from then on. */
const rememberedMs = 400 * 86_400_000;
const sweptAtOnce = 1000;

const insertToken = statement(sql`
  insert into ${userTokens} (id, tenant_id, user_id, hash, created_at, expires_at)
  values (${param("id")}, ${param("tenantId")}, ${param("userId")}, ${param("hash")}, ${param("now")},
    ${param("expiresAt")})`);
const endOfUser = statement<{ expires_at: string }>(sql`
  update ${userTokens} set ended_at = ${param("now")}, ended_as = ${param("endedAs")}
  where ${ofUser} and ended_at is null returning expires_at`);
const endOfTenant = statement<{ expires_at: string }>(sql`
  update ${userTokens} set ended_at = ${param("now")}, ended_as = 'revoked'
  where tenant_id = ${param("tenantId")} and ended_at is null returning expires_at`);
const endOne = statement<{ user_id: string; expires_at: string }>(sql`
  update ${userTokens} set ended_at = ${param("now")}, ended_as = 'revoked'
  where tenant_id = ${param("tenantId")} and id = ${param("tokenId")} and ended_at is null
  returning user_id, expires_at`);
// Judged and ended in one statement: of any number of calls with one token, one finds it alive.
const endAlive = statement<{ id: string }>(sql`
  update ${userTokens} set ended_at = ${param("now")}, ended_as = ${param("endedAs")}
  where id = ${param("tokenId")} and ${ofUser} and ended_at is null and expires_at > ${param("now")}
    and exists (select 1 from ${users} u where u.id = ${param("userId")} and u.tenant_id = ${param("tenantId")}
      and u.status = 'active')
  returning id`);
const selectToken = statement<{ id: string }>(sql`
  select id from ${userTokens} where tenant_id = ${param("tenantId")} and id = ${param("tokenId")}`);
const removeOld = statement(sql`
  delete from ${userTokens} where id in (
    select id from ${userTokens} where expires_at <= ${param("before")} limit ${sql.raw(String(sweptAtOnce))})`);

/** A token on its way to its user: the only place where it ever stands. */
export interface IssuedToken {
  tokenId: string;
  token: string;
  /** RFC 3339, UTC. */
  expiresAt: string;
}

/** Whose token a call is about, once `authenticate` has proved it. */
export interface OwnToken {
  userId: string;
  tokenId: string;
}

/**
 * Gives a user a new token, for as long as the tenant says, and ends the one before as replaced (specification, 3: one
 * is active per user). Only inside the transaction that proves who it is.
 */
export async function issueToken(tx: Ctx, userId: string): Promise<IssuedToken> {
  const { tenant } = tx;
  const nowMs = tx.now();
  const issued = {
    tokenId: newId("tok"),
    token: newToken(),
    expiresAt: toTimestamp(nowMs + tenant.tokenLifetime * 1000),
  };
  const now = toTimestamp(nowMs);
  await get(tx.db, endOfUser, { tenantId: tenant.id, userId, now, endedAs: "replaced" });
  await run(tx.db, insertToken, {
    id: issued.tokenId,
    tenantId: tenant.id,
    userId,
    hash: hashToken(issued.token),
    now,
    expiresAt: issued.expiresAt,
  });
  return issued;
}

/**
 * Puts a new token in the place of a living one (specification, section 4).
 * @throws userTokenInvalid when it has ended meanwhile: of calls that race with one token, one succeeds.
 */
export function rotateToken(ctx: Ctx, { userId, tokenId }: OwnToken): Promise<IssuedToken> {
  return inTransaction(ctx, async (tx) => {
    if (!(await spendToken(tx, { userId, tokenId }, "rotated"))) throw userTokenInvalid();
    const issued = await issueToken(tx, userId);
    await recordAudit(tx, { event: "token.refreshed", subject: userId, details: { token_id: issued.tokenId } });
    return issued;
  });
}

/**
 * Ends the token that a call was made with (specification, section 4).
 * @throws userTokenInvalid when it has ended meanwhile.
 */
export function endOwnToken(ctx: Ctx, { userId, tokenId }: OwnToken): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    if (!(await spendToken(tx, { userId, tokenId }, "revoked"))) throw userTokenInvalid();
    await recordAudit(tx, { event: "token.revoked", subject: userId, details: { token_id: tokenId } });
  });
}

/** Ends a token, inside the transaction of what it is spent for; false when it has ended or run out meanwhile. */
export async function spendToken(tx: Ctx, own: OwnToken, endedAs: "rotated" | "revoked"): Promise<boolean> {
  const now = toTimestamp(tx.now());
  return (await get(tx.db, endAlive, { ...own, tenantId: tx.tenant.id, now, endedAs })) !== undefined;
}

/**
 * Ends whatever token a user has, inside the transaction of the act that asks for it.
 * @returns how many could still have been used.
 */
export async function endTokens(tx: Ctx, userId: string, endedAs: "revoked" | "rotated"): Promise<number> {
  const now = toTimestamp(tx.now());
  const ended = await all(tx.db, endOfUser, { tenantId: tx.tenant.id, userId, now, endedAs });
  return countAlive(ended, now);
}

/**
 * Revokes one token of the tenant.
 * @returns 1, or 0 when it had ended before.
 * @throws notFound when there is none with this id.
 */
export function revokeToken(ctx: Ctx, tokenId: string): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    const now = toTimestamp(tx.now());
    const which = { tenantId: tx.tenant.id, tokenId };
    const ended = await get(tx.db, endOne, { ...which, now });
    if (!ended) {
      if (await get(tx.db, selectToken, which)) return 0;
      throw notFound("token");
    }
    await recordAudit(tx, { event: "token.revoked", subject: ended.user_id, details: { token_id: tokenId } });
    return countAlive([ended], now);
  });
}

/** Revokes what token a user has. Returns how many could still have been used: 0 or 1. */
export function revokeTokensOf(ctx: Ctx, userId: string): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    const revoked = await endTokens(tx, userId, "revoked");
    if (revoked > 0) await recordAudit(tx, { event: "token.revoked", subject: userId, details: { revoked } });
    return revoked;
  });
}

/** Revokes every token of the tenant. Returns how many could still have been used. */
export function revokeAllTokens(ctx: Ctx): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    const now = toTimestamp(tx.now());
    const revoked = countAlive(await all(tx.db, endOfTenant, { tenantId: tx.tenant.id, now }), now);
    await recordAudit(tx, { event: "token.revoked", details: { revoked, of: "all" } });
    return revoked;
  });
}

/** Forgets tokens that ran out over 400 days ago, at most a thousand a call. Returns how many went. */
export function purgeTokens(ctx: { db: Session; now: () => number }): Promise<number> {
  return run(ctx.db, removeOld, { before: toTimestamp(ctx.now() - rememberedMs) });
}

/** Of what was ended, also what had run out before is ended, but only the rest counts. */
function countAlive(ended: { expires_at: string }[], now: string): number {
  return ended.filter((token) => token.expires_at > now).length;
}

import { type SQL, sql } from "drizzle-orm";
import type { Ctx, WorkCtx } from "../../context.ts";
import { createPurge } from "../../db/purge.ts";
import { all, bind, get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { notFound, tokenExpired, tokenNotFound, userTokenInvalid } from "../../errors.ts";
import { hashSecret, newSecret } from "../../security/random-secret.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { recordAudit } from "../audit/service.ts";
import { pushRegistrations } from "../notifications/table.ts";
import { users } from "../users/table.ts";
import { userTokens } from "./table.ts";

const ofUser = sql`tenant_id = ${param("tenantId")} and user_id = ${param("userId")}`;
/** How long an expired token is kept. Using it fails with tokenExpired until then, with tokenNotFound afterwards. */
const rememberedMs = 400 * 86_400_000;

const insertToken = statement(sql`
  insert into ${userTokens} (id, tenant_id, user_id, hash, created_at, expires_at)
  values (${param("id")}, ${param("tenantId")}, ${param("userId")}, ${param("hash")}, ${param("now")},
    ${param("expiresAt")})`);
const endWhere = (condition: SQL) =>
  statement<{ user_id: string; expires_at: string }>(sql`
    update ${userTokens} set ended_at = ${param("now")}, ended_as = ${param("endedAs")}
    where tenant_id = ${param("tenantId")} and ${condition} and ended_at is null returning user_id, expires_at`);
const endOfUser = endWhere(sql`user_id = ${param("userId")}`);
const endOfTenant = endWhere(sql`true`);
const endOne = endWhere(sql`id = ${param("tokenId")}`);
const detachWhere = (condition: SQL) =>
  statement(sql`
    update ${pushRegistrations} set user_id = null, updated_at = ${param("now")}
    where tenant_id = ${param("tenantId")} and ${condition}`);
const detachOfUser = detachWhere(sql`user_id = ${param("userId")}`);
const detachOfTenant = detachWhere(sql`user_id is not null`);
// Checked and ended in one statement, so that of concurrent calls with one token only one succeeds.
const endAlive = statement<{ id: string }>(sql`
  update ${userTokens} set ended_at = ${param("now")}, ended_as = ${param("endedAs")}
  where id = ${param("tokenId")} and ${ofUser} and ended_at is null and expires_at > ${param("now")}
    and exists (select 1 from ${users} u where u.id = ${param("userId")} and u.tenant_id = ${param("tenantId")}
      and u.status = 'active')
  returning id`);
const selectToken = statement<{ id: string }>(sql`
  select id from ${userTokens} where tenant_id = ${param("tenantId")} and id = ${param("tokenId")}`);

/** A new token; only this object contains it. */
export type IssuedToken = ReturnType<typeof bindToken>["issued"];

/** The token of a call, after `authenticate`. */
export interface OwnToken {
  userId: string;
  tokenId: string;
}

/**
 * Issues a token with the lifetime of the tenant and ends the previous one as replaced (specification, section 3: one
 * active token per user). Call it only inside the transaction that authenticates the user.
 */
export async function issueToken(tx: Ctx, userId: string): Promise<IssuedToken> {
  const { issued, statements } = bindToken(tx, userId);
  await tx.db.batch(statements);
  return issued;
}

/** A token and the statements that issue it as `issueToken` does. */
export function bindToken(tx: Ctx, userId: string) {
  const { tenant } = tx;
  const nowMs = tx.now();
  const expiresAt = toTimestamp(nowMs + tenant.tokenLifetime * 1000);
  const issued = { tokenId: newId("tok"), token: newSecret("v2."), expiresAt };
  const now = toTimestamp(nowMs);
  const row = { id: issued.tokenId, tenantId: tenant.id, userId, hash: hashSecret(issued.token), now, expiresAt };
  const ended = { tenantId: tenant.id, userId, now, endedAs: "replaced" };
  return { issued, statements: [bind(endOfUser, ended), bind(insertToken, row)] };
}

/**
 * Exchanges a valid token for a new one (specification, section 4).
 * @throws userTokenInvalid when it has ended meanwhile: of concurrent calls with one token, one succeeds.
 */
export function rotateToken(ctx: Ctx, { userId, tokenId }: OwnToken): Promise<IssuedToken> {
  return inTransaction(ctx, async (tx) => {
    if (!(await spendToken(tx, { userId, tokenId }, "rotated"))) throw userTokenInvalid();
    const issued = await issueToken(tx, userId);
    await recordAudit(tx, { event: "token.refreshed", subject: userId, details: { token_id: issued.tokenId } });
    return issued;
  });
}

/** Revokes the token of a call (specification, section 4). Errors: userTokenInvalid when it has ended meanwhile. */
export function endOwnToken(ctx: Ctx, { userId, tokenId }: OwnToken): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    if (!(await spendToken(tx, { userId, tokenId }, "revoked"))) throw userTokenInvalid();
    await recordAudit(tx, { event: "token.revoked", subject: userId, details: { token_id: tokenId } });
  });
}

/** Ends a token inside the transaction of an act; false when it has ended or expired meanwhile. */
export async function spendToken(tx: Ctx, own: OwnToken, endedAs: "rotated" | "revoked"): Promise<boolean> {
  const now = toTimestamp(tx.now());
  return (await get(tx.db, endAlive, { ...own, tenantId: tx.tenant.id, now, endedAs })) !== undefined;
}

/** Ends the tokens of a user inside the transaction of an act. Returns how many were still valid. */
export async function endTokens(tx: Ctx, userId: string, endedAs: "revoked" | "rotated"): Promise<number> {
  const now = toTimestamp(tx.now());
  const ended = await all(tx.db, endOfUser, { tenantId: tx.tenant.id, userId, now, endedAs });
  return countAlive(ended, now);
}

/**
 * Takes a user's devices from them, inside the transaction of an act: a thief may have registered one, which would
 * continue to receive notifications about their orders. The user's own devices must register again.
 */
export async function detachDevices(tx: Ctx, userId: string): Promise<void> {
  await run(tx.db, detachOfUser, { tenantId: tx.tenant.id, userId, now: toTimestamp(tx.now()) });
}

/** Revokes one token of the tenant and detaches its user's devices. Returns 1, or 0 when it had ended before. Errors: notFound. */
export function revokeToken(ctx: Ctx, tokenId: string): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    const now = toTimestamp(tx.now());
    const which = { tenantId: tx.tenant.id, tokenId };
    const ended = await get(tx.db, endOne, { ...which, now, endedAs: "revoked" });
    if (!ended) {
      if (await get(tx.db, selectToken, which)) return 0;
      throw notFound("token", undefined, { remedy: `List tokens: bodega token list -n ${tx.tenant.namespace}` });
    }
    await detachDevices(tx, ended.user_id);
    await recordAudit(tx, { event: "token.revoked", subject: ended.user_id, details: { token_id: tokenId } });
    return countAlive([ended], now);
  });
}

/** Revokes the token of a user and detaches their devices. Returns how many tokens were still valid: 0 or 1. */
export function revokeTokensOf(ctx: Ctx, userId: string): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    const revoked = await endTokens(tx, userId, "revoked");
    await detachDevices(tx, userId);
    if (revoked > 0) await recordAudit(tx, { event: "token.revoked", subject: userId, details: { revoked } });
    return revoked;
  });
}

/** Revokes all tokens of the tenant and detaches all users' devices. Returns how many tokens were still valid. */
export function revokeAllTokens(ctx: Ctx): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    const now = toTimestamp(tx.now());
    const values = { tenantId: tx.tenant.id, now, endedAs: "revoked" };
    const revoked = countAlive(await all(tx.db, endOfTenant, values), now);
    await run(tx.db, detachOfTenant, values);
    await recordAudit(tx, { event: "token.revoked", details: { revoked, of: "all" } });
    return revoked;
  });
}

export const purgeTokens = createPurge(userTokens, sql`expires_at <= ${param("before")}`, rememberedMs);

/** Expired tokens are ended too, but only valid ones are counted. */
function countAlive(ended: { expires_at: string }[], now: string): number {
  return ended.filter((token) => token.expires_at > now).length;
}

/** A token as the terminal shows it, without the secret. */
export interface TokenRecord {
  token_id: string;
  user_id: string;
  /** Null when the user was deleted. */
  email: string | null;
  state: "active" | "expired" | "rotated" | "replaced" | "revoked";
  created_at: string;
  expires_at: string;
  ended_at: string | null;
}

const selectTokens = statement<TokenRecord>(sql`
  select t.id as token_id, t.user_id, u.email,
    coalesce(t.ended_as, iif(t.expires_at > ${param("now")}, 'active', 'expired')) as state,
    t.created_at, t.expires_at, t.ended_at
  from ${userTokens} t left join ${users} u on u.id = t.user_id and u.tenant_id = t.tenant_id
  where t.tenant_id = ${param("tenantId")} and t.user_id = coalesce(${param("userId")}, t.user_id)
    and (${param("allStates")} or (t.ended_at is null and t.expires_at > ${param("now")}))
  order by t.created_at desc, t.id desc limit ${param("limit")}`);

/**
 * The tokens of a tenant, newest first: the valid ones, or with `allStates` also the ended ones.
 * @param filter.limit 1,000 unless given.
 */
export function listTokens(
  ctx: Ctx,
  filter: { userId?: string | undefined; allStates?: boolean | undefined; limit?: number | undefined } = {},
): Promise<TokenRecord[]> {
  return all(ctx.db, selectTokens, {
    tenantId: ctx.tenant.id,
    userId: filter.userId ?? null,
    allStates: filter.allStates ? 1 : 0,
    limit: filter.limit ?? 1000,
    now: toTimestamp(ctx.now()),
  });
}

type TokenRow = Record<"id" | "tenant_id" | "user_id" | "expires_at", string> & {
  ended_at: string | null;
  /** Null when the user was deleted, as the status is then. */
  role: "customer" | "staff" | "owner" | null;
  status: string | null;
};

// Found by the hash of 256 random bits, so the time of an unsuccessful lookup reveals nothing about other tokens.
const selectByHash = statement<TokenRow>(sql`
  select t.id, t.tenant_id, t.user_id, t.expires_at, t.ended_at, u.role, u.status
  from ${userTokens} t left join ${users} u on u.id = t.user_id and u.tenant_id = t.tenant_id
  where t.hash = ${param("hash")}`);

/**
 * Verifies user credentials in the database at each request (specification, section 5), so that a revoked token fails
 * at once. Errors: tokenNotFound for a token that was never issued, or to another user or store; tokenExpired for one
 * that was revoked or has expired, or whose user is disabled or deleted. Returns the user to whom the token belongs.
 */
export async function verifyToken(ctx: WorkCtx, sent: { tenantId: string; userId: string; token: string }) {
  const row = await get(ctx.db, selectByHash, { hash: hashSecret(sent.token) });
  if (row?.tenant_id !== sent.tenantId || row.user_id !== sent.userId) throw tokenNotFound();
  const isValid = row.ended_at === null && row.expires_at > toTimestamp(ctx.now());
  if (!isValid || row.role === null || row.status !== "active") throw tokenExpired();
  return { userId: row.user_id, tokenId: row.id, role: row.role };
}

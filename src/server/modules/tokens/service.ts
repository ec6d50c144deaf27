import { and, desc, eq, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import type { Ctx, WorkCtx } from "../../context.ts";
import { pickStored } from "../../db/selection.ts";
import { all, bind, createPurge, get, ofStore, ofUser, param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { forbidden, notFound, tokenExpired, tokenNotFound, userTokenInvalid } from "../../errors.ts";
import { hashSecret, newId, newSecret, toTimestamp } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { pushRegistrations } from "../notifications/table.ts";
import { users } from "../users/table.ts";
import { userTokens } from "./table.ts";

/** Expired tokens are kept this long. Using one fails with tokenExpired while it is kept, then with tokenNotFound. */
const rememberedMs = 400 * 86_400_000;

const newToken = { ...params("id", "tenantId", "userId", "hash", "expiresAt"), createdAt: param("now") };
const insertToken = statement((q) => q.insert(userTokens).values(newToken));
const end = { endedAt: param("now"), endedAs: param("endedAs") };
const { id, tenantId, userId, createdAt, expiresAt, endedAt } = userTokens;
const isToken = and(ofStore(userTokens), eq(id, param("tokenId")));
const isNotEnded = isNull(endedAt);
const ended = { userId, createdAt, expiresAt };
const endWhere = (condition: SQL | undefined) =>
  statement((q) => q.update(userTokens).set(end).where(and(condition, isNotEnded)).returning(ended));
const endOfUser = endWhere(ofUser(userTokens));
const endOfTenant = endWhere(ofStore(userTokens));
const endOne = endWhere(isToken);
// One statement checks and ends a token, so that only one of several concurrent calls succeeds.
const endAlive = endWhere(sql`${isToken} and ${ofUser(userTokens)} and ${expiresAt} > ${param("now")}
  and exists (select 1 from ${users} u where u.id = ${param("userId")} and u.tenant_id = ${param("tenantId")}
    and u.status = 'active')`);
const selectToken = statement((q) => q.select({ id }).from(userTokens).where(isToken));
const detached = { userId: null, updatedAt: param("now") };
const detachWhere = (condition: SQL | undefined) =>
  statement((q) => q.update(pushRegistrations).set(detached).where(condition));
const detachOfUser = detachWhere(ofUser(pushRegistrations));
const detachOfTenant = detachWhere(and(ofStore(pushRegistrations), isNotNull(pushRegistrations.userId)));

type OwnToken = ReturnType<typeof ownTokenOf>;

/** Issues a token that replaces the user's previous one (specification, section 3). `seconds`: as for `bindToken`. */
export async function issueToken(tx: Ctx, userId: string, seconds?: number) {
  const { issued, statements } = bindToken(tx, userId, seconds);
  await tx.db.batch(statements);
  return issued;
}

/** Returns a new token, valid for `seconds` or the store's shorter limit, and the statements that store it. */
export function bindToken(tx: Ctx, userId: string, seconds = Number.POSITIVE_INFINITY) {
  const { tenant } = tx;
  const nowMs = tx.now();
  const expiresAt = toTimestamp(nowMs + Math.min(seconds, tenant.tokenLifetime) * 1000);
  const issued = { tokenId: newId("tok"), token: newSecret("v2."), expiresAt };
  const now = toTimestamp(nowMs);
  const row = { id: issued.tokenId, tenantId: tenant.id, userId, hash: hashSecret(issued.token), now, expiresAt };
  const ended = { tenantId: tenant.id, userId, now, endedAs: "replaced" };
  return { issued, statements: [bind(endOfUser, ended), bind(insertToken, row)] };
}

/** Replaces the caller's token by a new one with the same lifetime. Errors: userTokenInvalid if it has ended. */
export function refreshSession(ctx: Ctx) {
  const own = ownTokenOf(ctx);
  return inTransaction(ctx, async (tx) => {
    const spent = await spendToken(tx, own, "rotated");
    if (!spent) throw userTokenInvalid();
    const ms = Date.parse(spent.expiresAt) - Date.parse(spent.createdAt);
    const { tokenId, token, expiresAt } = await issueToken(tx, own.userId, ms / 1000);
    await recordAudit(tx, { event: "token.refreshed", subject: own.userId, details: { token_id: tokenId } });
    return { user_id: own.userId, token, expires_at: expiresAt };
  });
}

/** Returns the ids of the calling user and of the token that the user sent. Errors: forbidden for other callers. */
export function ownTokenOf({ actor }: Ctx) {
  if (actor.kind !== "user" || actor.tokenId === undefined) throw forbidden();
  return { userId: actor.userId, tokenId: actor.tokenId };
}

export function endOwnToken(ctx: Ctx): Promise<void> {
  const own = ownTokenOf(ctx);
  return inTransaction(ctx, async (tx) => {
    if (!(await spendToken(tx, own, "revoked"))) throw userTokenInvalid();
    await recordAudit(tx, { event: "token.revoked", subject: own.userId, details: { token_id: own.tokenId } });
  });
}

/** Ends a valid token. Returns when it was created and would have expired; undefined if it was not valid. */
export function spendToken(tx: Ctx, own: OwnToken, endedAs: "rotated" | "revoked") {
  return get(tx.db, endAlive, { ...own, tenantId: tx.tenant.id, now: toTimestamp(tx.now()), endedAs });
}

/** Revokes a user's tokens. Returns how many were valid. */
export async function revokeTokens(tx: Ctx, userId: string): Promise<number> {
  const now = toTimestamp(tx.now());
  return countAlive(await all(tx.db, endOfUser, { tenantId: tx.tenant.id, userId, now, endedAs: "revoked" }), now);
}

/** Detaches a user's devices, because a thief may have registered one. The user's devices must register again. */
export async function detachDevices(tx: Ctx, userId: string): Promise<void> {
  await run(tx.db, detachOfUser, { tenantId: tx.tenant.id, userId, now: toTimestamp(tx.now()) });
}

/** Revokes a token and detaches its user's devices. Returns 1; 0 if the token was not valid. Errors: notFound. */
export function revokeToken(ctx: Ctx, tokenId: string): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    const now = toTimestamp(tx.now());
    const which = { tenantId: tx.tenant.id, tokenId };
    const ended = await get(tx.db, endOne, { ...which, now, endedAs: "revoked" });
    if (!ended) {
      if (await get(tx.db, selectToken, which)) return 0;
      throw notFound("token", undefined, { remedy: `List tokens: bodega token list -n ${tx.tenant.namespace}` });
    }
    await detachDevices(tx, ended.userId);
    await recordAudit(tx, { event: "token.revoked", subject: ended.userId, details: { token_id: tokenId } });
    return countAlive([ended], now);
  });
}

/** Revokes the tokens of a user, or of all users (null), and detaches their devices. Returns how many were valid. */
export function revokeTokensOf(ctx: Ctx, userId: string | null): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    const now = toTimestamp(tx.now());
    const values = { tenantId: tx.tenant.id, userId, now, endedAs: "revoked" };
    const [end, detach] = userId === null ? [endOfTenant, detachOfTenant] : [endOfUser, detachOfUser];
    const revoked = countAlive(await all(tx.db, end, values), now);
    await run(tx.db, detach, values);
    if (userId === null) await recordAudit(tx, { event: "token.revoked", details: { revoked, of: "all" } });
    else if (revoked > 0) await recordAudit(tx, { event: "token.revoked", subject: userId, details: { revoked } });
    return revoked;
  });
}

export const purgeTokens = createPurge(userTokens, sql`expires_at <= ${param("before")}`, rememberedMs);

/** Counts the ended tokens that had not expired. */
function countAlive(ended: { expiresAt: string }[], now: string): number {
  return ended.filter((token) => token.expiresAt > now).length;
}

const ownerOf = and(eq(users.id, userId), eq(users.tenantId, userTokens.tenantId));
const isValid = sql`${isNotEnded} and ${expiresAt} > ${param("now")}`;
const state = sql<string>`coalesce(${userTokens.endedAs}, iif(${expiresAt} > ${param("now")}, 'active', 'expired'))`;
const times = pickStored(userTokens, "createdAt", "expiresAt", "endedAt");
const shown = { token_id: id, user_id: userId, email: users.email, state, ...times };
const selectTokens = statement((q) =>
  q
    .select(shown)
    .from(userTokens)
    .leftJoin(users, ownerOf)
    .where(sql`${ofStore(userTokens)} and ${userId} = coalesce(${param("userId")}, ${userId})
      and (${param("allStates")} or (${isValid}))`)
    .orderBy(desc(userTokens.createdAt), desc(userTokens.id))
    .limit(sql.placeholder("limit")),
);

/** Lists a store's valid tokens, newest first; with `allStates`, also ended and expired ones. */
export function listTokens(
  ctx: Ctx,
  filter: { userId?: string | undefined; allStates?: boolean | undefined; limit?: number | undefined } = {},
) {
  const { userId = null, allStates = false, limit = 1000 } = filter;
  return all(ctx.db, selectTokens, { tenantId: ctx.tenant.id, userId, allStates, limit, now: toTimestamp(ctx.now()) });
}

// The hash of 256 random bits is looked up, so the time of a failure reveals nothing about tokens. Role and status are
// null if the user was deleted.
const credentials = { id, tenantId, userId, expiresAt, endedAt, role: users.role, status: users.status };
const isSent = eq(userTokens.hash, param("hash"));
const selectByHash = statement((q) => q.select(credentials).from(userTokens).leftJoin(users, ownerOf).where(isSent));

/**
 * Verifies the credentials of a user (specification, section 5).
 * @throws tokenNotFound for a token that this user of the store never had; tokenExpired if the token has ended, or if
 * the user is disabled or deleted.
 */
export async function verifyToken(ctx: WorkCtx, sent: { tenantId: string; userId: string; token: string }) {
  const row = await get(ctx.db, selectByHash, { hash: hashSecret(sent.token) });
  if (row?.tenantId !== sent.tenantId || row.userId !== sent.userId) throw tokenNotFound();
  const isAlive = row.endedAt === null && row.expiresAt > toTimestamp(ctx.now());
  if (!isAlive || row.role === null || row.status !== "active") throw tokenExpired();
  return { userId: row.userId, tokenId: row.id, role: row.role };
}

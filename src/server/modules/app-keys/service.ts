import { and, eq, gt, isNull, lte, or, sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { jsonOf, pickStored } from "../../db/selection.ts";
import { all, get, param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { type AppError, invalidField, notFound, wrongState } from "../../errors.ts";
import { parseScopes } from "../../security/scopes.ts";
import { requireText } from "../../values/fields.ts";
import { hashSecret, newId, newSecret, toTimestamp } from "../../values/stamps.ts";
import { type AuditEvent, recordAudit } from "../audit/service.ts";
import { requireTenant } from "../tenants/service.ts";
import { tenants } from "../tenants/table.ts";
import { type KeyState, keyState, type StoredSecret } from "./model.ts";
import { appKeyOrigins, appKeySecrets, appKeys } from "./table.ts";

const { id, tenantId, name, revokedAt } = appKeys;

const times = { createdAt: param("now"), updatedAt: param("now") };
const newKey = { ...params("id", "tenantId", "name", "scopes", "published", "expiresAt"), ...times };
const insertKey = statement((q) => q.insert(appKeys).values(newKey));
export const tenantOfKey = sql`(select tenant_id from ${appKeys} where id = ${param("appId")})`;
const newRow = { ...params("id", "appId", "hash"), tenantId: tenantOfKey, createdAt: param("now") };
const insertSecret = statement((q) => q.insert(appKeySecrets).values(newRow));
const lastUse = sql<string | null>`(select max(at) from (select ${appKeys}.last_used_at as at
  union all select s.last_used_at from ${appKeySecrets} s where s.app_id = ${appKeys}.id))`;
const isKey = eq(id, param("appId"));
const isValidKey = and(isKey, isNull(revokedAt));
const keepLastUse = statement((q) => q.update(appKeys).set({ lastUsedAt: lastUse }).where(isKey));
const secretsOfKey = sql`(select json_group_array(json_object('created_at', created_at, 'expires_at', expires_at,
    'last_used_at', last_used_at)) from (select * from ${appKeySecrets} s where s.app_id = ${id}
      order by s.created_at desc, s.id desc))`;
const keyFields = {
  ...{ app_id: id, namespace: tenants.namespace, name },
  scopes: jsonOf<string[]>(appKeys.scopes),
  ...pickStored(appKeys, "active", "published"),
  origins: jsonOf<string[]>(sql`(select json_group_array(pattern) from (
    select pattern from ${appKeyOrigins} o where o.app_id = ${id} order by pattern))`),
  ...pickStored(appKeys, "enforceOrigins", "allowNoOrigin", "createdAt", "expiresAt", "revokedAt"),
  last_used_at: lastUse,
  secrets: jsonOf<StoredSecret[]>(secretsOfKey),
};
const isOfStore = eq(tenants.id, tenantId);
const selectKey = statement((q) => q.select(keyFields).from(appKeys).innerJoin(tenants, isOfStore).where(isKey));
const isInStore = eq(tenants.namespace, param("namespace"));
const selectKeys = statement((q) =>
  q.select(keyFields).from(appKeys).innerJoin(tenants, isOfStore).where(isInStore).orderBy(id),
);
const revoked = { revokedAt: param("now"), active: false, published: false, updatedAt: param("now") };
const setRevoked = statement((q) => q.update(appKeys).set(revoked).where(isValidKey));

/** An app key as the terminal prints it, without secrets and their hashes. */
export type AppKeyDetails = Awaited<ReturnType<typeof getKey>>;
export type IssuedAppKey = ReturnType<typeof withSecret>;

export async function issueKey(
  ctx: SystemCtx,
  input: { namespace: string; name: string; scopes?: string[]; publish?: boolean; expiresAt?: string | null },
): Promise<IssuedAppKey> {
  const name = requireText("name", input.name, 100);
  const scopes = parseScopes(input.scopes ?? ["*"]);
  const now = toTimestamp(ctx.now());
  const expiresAt = input.expiresAt ? parseExpiry(input.expiresAt, ctx.now()) : null;
  const appId = newId("app");
  const secret = newSecret("sk_");
  return inTransaction(ctx, async (tx) => {
    const tenant = await requireTenant(tx, input.namespace);
    const published = input.publish ?? false;
    const row = { id: appId, tenantId: tenant.id, name, scopes: JSON.stringify(scopes), published, expiresAt, now };
    await run(tx.db, insertKey, row);
    await run(tx.db, insertSecret, { id: newId("sec"), appId, hash: hashSecret(secret), now });
    const details = { name, scopes, published, expires_at: expiresAt };
    await recordAudit(tx, { event: "key.issued", namespace: input.namespace, subject: appId, details });
    return withSecret(await getKey(tx, appId), secret);
  });
}

/** Lists keys, oldest first. Errors: notFound. */
export async function listKeys(ctx: SystemCtx, filter: { namespace: string; state?: KeyState | undefined }) {
  const { namespace, state } = filter;
  await requireTenant(ctx, namespace);
  const keys = await all(ctx.db, selectKeys, { namespace });
  return state === undefined ? keys : keys.filter((key) => keyState(key, ctx.now()) === state);
}

export async function getKey(ctx: SystemCtx, appId: string) {
  const row = await get(ctx.db, selectKey, { appId });
  if (!row) throw notFound("key", appId, { remedy: "List the keys of a store: bodega key list -n <namespace>" });
  return row;
}

/** Changes take effect at the next request. Requests with an unpublished or inactive key fail with appAuthFailed. */
export const publishKey = changeOf("published", true, "key.published");
export const unpublishKey = changeOf("published", false, "key.unpublished");
export const activateKey = changeOf("active", true, "key.activated");
export const deactivateKey = changeOf("active", false, "key.deactivated");

/** Revokes a key permanently, and deletes its secrets. Revoking a revoked key changes nothing. Errors: notFound. */
export function revokeKey(ctx: SystemCtx, appId: string): Promise<AppKeyDetails> {
  return inTransaction(ctx, async (tx) => {
    const { namespace } = await getKey(tx, appId);
    const changed = await run(tx.db, setRevoked, { appId, now: toTimestamp(ctx.now()) });
    await run(tx.db, keepLastUse, { appId });
    await run(tx.db, removeSecrets, { appId });
    if (changed > 0) await recordAudit(tx, { event: "key.revoked", namespace, subject: appId });
    return getKey(tx, appId);
  });
}

export function keyRevoked({ app_id, namespace }: Pick<AppKeyDetails, "app_id" | "namespace">): AppError {
  return wrongState(`Key ${app_id} is revoked. Issue a new one: bodega key issue -n ${namespace}`);
}

function changeOf(flag: "published" | "active", value: boolean, event: AuditEvent) {
  const changed = { [flag]: value, updatedAt: param("now") };
  const change = statement((q) => q.update(appKeys).set(changed).where(isValidKey));
  return (ctx: SystemCtx, appId: string): Promise<AppKeyDetails> =>
    inTransaction(ctx, async (tx) => {
      const changed = await run(tx.db, change, { appId, now: toTimestamp(ctx.now()) });
      const key = await getKey(tx, appId);
      if (changed === 0) throw keyRevoked(key);
      await recordAudit(tx, { event, namespace: key.namespace, subject: appId });
      return key;
    });
}

export function withSecret(key: AppKeyDetails, app_secret: string) {
  const { app_id, expires_at, revoked_at, last_used_at, secrets, ...rest } = key;
  return { app_id, app_secret, ...rest };
}

function parseExpiry(text: string, now: number): string {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw invalidField("expires_at", "must be a time, such as 2030-01-31T00:00:00Z");
  if (at <= now) throw invalidField("expires_at", "must be in the future");
  return toTimestamp(at);
}

const changes = params("name", "scopes", "expiresAt", "updatedAt");
const changeKey = statement((q) => q.update(appKeys).set(changes).where(isValidKey));

export function updateKey(
  ctx: SystemCtx,
  appId: string,
  patch: { name?: string | undefined; scopes?: string[] | undefined; expiresAt?: string | null | undefined },
) {
  const name = patch.name === undefined ? undefined : requireText("name", patch.name, 100);
  const scopes = patch.scopes === undefined ? undefined : parseScopes(patch.scopes);
  const expiresAt = patch.expiresAt ? parseExpiry(patch.expiresAt, ctx.now()) : patch.expiresAt;
  return inTransaction(ctx, async (tx) => {
    const before = await getKey(tx, appId);
    const changed = await run(tx.db, changeKey, {
      appId,
      name: name ?? before.name,
      scopes: JSON.stringify(scopes ?? before.scopes),
      expiresAt: expiresAt === undefined ? before.expires_at : expiresAt,
      updatedAt: toTimestamp(ctx.now()),
    });
    if (changed === 0) throw keyRevoked(before);
    const after = await getKey(tx, appId);
    const details = { name: after.name, scopes: after.scopes, expires_at: after.expires_at };
    await recordAudit(tx, { event: "key.updated", namespace: after.namespace, subject: appId, details });
    return after;
  });
}

const isOfKey = eq(appKeySecrets.appId, param("appId"));
const end = appKeySecrets.expiresAt;
const isLonger = and(isOfKey, or(isNull(end), gt(end, param("expiresAt"))));
const endSecrets = statement((q) => q.update(appKeySecrets).set(params("expiresAt")).where(isLonger));
const isEnded = and(isOfKey, lte(end, param("now")));
const removeSecrets = statement((q) => q.delete(appKeySecrets).where(isOfKey));
const removeEndedSecrets = statement((q) => q.delete(appKeySecrets).where(isEnded));
const selectSecrets = statement((q) => q.select({ id: appKeySecrets.id }).from(appKeySecrets).where(isOfKey));
const maxSecrets = 5;
const removeOldSecrets = statement(sql`delete from ${appKeySecrets} where ${isOfKey} and id not in (
  select id from ${appKeySecrets} where ${isOfKey} order by created_at desc, id desc limit 1)`);

export function requireOverlap(ms: number): void {
  if (!Number.isSafeInteger(ms) || ms < 0 || ms > 365 * 86_400_000) {
    throw invalidField("overlap", "must be between 0 and 365 days");
  }
}

/** Adds a secret. Older ones expire within `overlapMs`. Errors: notFound, wrongState (revoked, too many secrets). */
export function rotateKey(ctx: SystemCtx, { appId, overlapMs }: { appId: string; overlapMs: number }) {
  requireOverlap(overlapMs);
  const moment = ctx.now();
  const now = toTimestamp(moment);
  const secret = newSecret("sk_");
  return inTransaction(ctx, async (tx) => {
    const key = await getKey(tx, appId);
    if (key.revoked_at) throw keyRevoked(key);
    await run(tx.db, endSecrets, { appId, expiresAt: toTimestamp(moment + overlapMs) });
    await run(tx.db, keepLastUse, { appId });
    await run(tx.db, removeEndedSecrets, { appId, now });
    const valid = await all(tx.db, selectSecrets, { appId });
    if (valid.length >= maxSecrets) {
      throw wrongState(
        `Key ${appId} has ${maxSecrets} valid secrets, the maximum. Rotate without --overlap to end them.`,
      );
    }
    await run(tx.db, insertSecret, { id: newId("sec"), appId, hash: hashSecret(secret), now });
    const details = { overlap_seconds: overlapMs / 1000 };
    await recordAudit(tx, { event: "key.rotated", namespace: key.namespace, subject: appId, details });
    return withSecret(await getKey(tx, appId), secret);
  });
}

export function retireSecrets(ctx: SystemCtx, appId: string) {
  return inTransaction(ctx, async (tx) => {
    const { namespace } = await getKey(tx, appId);
    await run(tx.db, keepLastUse, { appId });
    const retired = await run(tx.db, removeOldSecrets, { appId });
    if (retired > 0) await recordAudit(tx, { event: "key.retired", namespace, subject: appId, details: { retired } });
    return { ...(await getKey(tx, appId)), retired };
  });
}

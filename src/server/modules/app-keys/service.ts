import { sql } from "drizzle-orm";
import type { SystemCtx } from "../../context.ts";
import { all, get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { type AppError, invalidField, notFound, wrongState } from "../../errors.ts";
import { hashSecret, newSecret } from "../../security/random-secret.ts";
import { parseScope, parseScopes } from "../../security/scopes.ts";
import { newId } from "../../values/ids.ts";
import { requireText } from "../../values/text.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { type AuditEvent, recordAudit } from "../audit/service.ts";
import { requireTenant } from "../tenants/service.ts";
import { tenants } from "../tenants/table.ts";
import { describeSecrets, fitsFilter, type KeyFilter } from "./model.ts";
import { appKeyOrigins, appKeySecrets, appKeys } from "./table.ts";

const insertKey = statement(sql`
  insert into ${appKeys} (id, tenant_id, name, scopes, active, published, expires_at, created_at, updated_at)
  values (${param("appId")}, ${param("tenantId")}, ${param("name")}, ${param("scopes")}, 1, ${param("published")},
    ${param("expiresAt")}, ${param("now")}, ${param("now")})`);
export const insertSecret = statement(sql`
  insert into ${appKeySecrets} (id, tenant_id, app_id, hash, created_at)
  values (${param("id")}, ${param("tenantId")}, ${param("appId")}, ${param("hash")}, ${param("now")})`);
/** The last use of a key `k`, whose used secrets may have been removed. */
const lastUse = sql`(select max(at) from (select k.last_used_at as at
  union all select s.last_used_at from ${appKeySecrets} s where s.app_id = k.id))`;
export const keepLastUse = statement(sql`
  update ${appKeys} as k set last_used_at = ${lastUse} where k.id = ${param("appId")}`);
const keyColumns = sql`
  k.tenant_id, k.id as app_id, t.namespace, k.name, k.scopes, k.active, k.published,
  (select json_group_array(pattern) from (select pattern from ${appKeyOrigins} o where o.app_id = k.id order by pattern))
    as origins,
  k.enforce_origins, k.allow_no_origin, k.created_at, k.expires_at, k.revoked_at, ${lastUse} as last_used_at,
  (select json_group_array(json_object('created_at', created_at, 'expires_at', expires_at, 'last_used_at', last_used_at))
    from (select * from ${appKeySecrets} s where s.app_id = k.id order by s.created_at desc, s.id desc)) as secrets`;
const selectKey = statement<KeyRow>(sql`
  select ${keyColumns} from ${appKeys} k join ${tenants} t on t.id = k.tenant_id where k.id = ${param("appId")}`);
const selectKeys = statement<KeyRow>(sql`
  select ${keyColumns} from ${appKeys} k join ${tenants} t on t.id = k.tenant_id
  where t.namespace = ${param("namespace")} order by k.id`);
const setRevoked = statement(sql`
  update ${appKeys} set revoked_at = ${param("now")}, active = 0, published = 0, updated_at = ${param("now")}
  where id = ${param("appId")} and revoked_at is null`);
const removeSecrets = statement(sql`delete from ${appKeySecrets} where app_id = ${param("appId")}`);

type Flag = "active" | "published" | "enforce_origins" | "allow_no_origin";
type KeyRow = Record<"tenant_id" | "app_id" | "namespace" | "name" | "created_at", string> &
  Record<"expires_at" | "revoked_at" | "last_used_at", string | null> &
  Record<"scopes" | "origins" | "secrets", string> &
  Record<Flag, number>;

/** An app key as the terminal prints it: never with its secret or a hash of it. */
export type AppKeyDetails = ReturnType<typeof toDetails>;
export type IssuedAppKey = ReturnType<typeof withSecret>;

/**
 * Issues a key for a tenant: active, unpublished unless asked, with every scope unless named. Only this reply contains
 * the secret. Errors: notFound for an unknown tenant, validationFailed for an invalid field.
 */
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
    const row = { tenantId: tenant.id, appId, name, scopes: JSON.stringify(scopes), published, expiresAt, now };
    await run(tx.db, insertKey, row);
    await run(tx.db, insertSecret, { ...row, id: newId("sec"), hash: hashSecret(secret) });
    const details = { name, scopes, published, expires_at: expiresAt };
    await recordAudit(tx, { event: "key.issued", namespace: input.namespace, subject: appId, details });
    return withSecret(await requireKey(tx, appId), secret);
  });
}

/**
 * The keys of a tenant that match, oldest first.
 * @throws validationFailed for an unknown scope, notFound for an unknown tenant.
 */
export async function listKeys(ctx: SystemCtx, filter: KeyFilter): Promise<AppKeyDetails[]> {
  const now = ctx.now();
  const scopes = filter.scope === undefined ? [] : parseScope("scope", filter.scope);
  await requireTenant(ctx, filter.namespace);
  const rows = await all(ctx.db, selectKeys, { namespace: filter.namespace });
  return rows.map((row) => toDetails(row, now)).filter((key) => fitsFilter(key, filter, scopes, now));
}

/** One key by its `app_id`. Errors: notFound. */
export async function getKey(ctx: SystemCtx, appId: string): Promise<AppKeyDetails> {
  return toDetails(await requireKey(ctx, appId), ctx.now());
}

/** Calls with an unpublished or inactive key fail with appAuthFailed, from the next one on. */
export const publishKey = changeOf("published", true, "key.published");
export const unpublishKey = changeOf("published", false, "key.unpublished");
export const activateKey = changeOf("active", true, "key.activated");
export const deactivateKey = changeOf("active", false, "key.deactivated");

/**
 * Revokes a key for good and deletes its secrets; it cannot be restored. Revoking again changes nothing.
 * @throws notFound.
 */
export function revokeKey(ctx: SystemCtx, appId: string): Promise<AppKeyDetails> {
  return inTransaction(ctx, async (tx) => {
    const { namespace } = await requireKey(tx, appId);
    const changed = await run(tx.db, setRevoked, { appId, now: toTimestamp(ctx.now()) });
    await run(tx.db, keepLastUse, { appId });
    await run(tx.db, removeSecrets, { appId });
    if (changed > 0) await recordAudit(tx, { event: "key.revoked", namespace, subject: appId });
    return getKey(tx, appId);
  });
}

/** The stored row of a key, for this module. Errors: notFound. */
export async function requireKey(ctx: SystemCtx, appId: string): Promise<KeyRow> {
  const row = await get(ctx.db, selectKey, { appId });
  if (!row) throw notFound("key", appId, { remedy: "List the keys of a store: bodega key list -n <namespace>" });
  return row;
}

export function keyRevoked({ app_id, namespace }: Pick<AppKeyDetails, "app_id" | "namespace">): AppError {
  return wrongState(`Key ${app_id} is revoked. Issue a new one: bodega key issue -n ${namespace}`);
}

/** The change of one flag of a key. Errors: notFound, wrongState for a revoked key. */
function changeOf(flag: "published" | "active", value: boolean, event: AuditEvent) {
  const change = statement(sql`
    update ${appKeys} set ${sql.raw(flag)} = ${param("value")}, updated_at = ${param("now")}
    where id = ${param("appId")} and revoked_at is null`);
  return (ctx: SystemCtx, appId: string): Promise<AppKeyDetails> =>
    inTransaction(ctx, async (tx) => {
      const changed = await run(tx.db, change, { appId, value, now: toTimestamp(ctx.now()) });
      const key = await getKey(tx, appId);
      if (changed === 0) throw keyRevoked(key);
      await recordAudit(tx, { event, namespace: key.namespace, subject: appId });
      return key;
    });
}

function toDetails({ tenant_id: _, ...row }: KeyRow, now: number) {
  return {
    ...row,
    scopes: JSON.parse(row.scopes) as string[],
    active: row.active === 1,
    published: row.published === 1,
    origins: JSON.parse(row.origins) as string[],
    enforce_origins: row.enforce_origins === 1,
    allow_no_origin: row.allow_no_origin === 1,
    /** The secrets that are valid or not yet purged, newest first. */
    secrets: describeSecrets(JSON.parse(row.secrets), now),
  };
}

export function withSecret(row: KeyRow, app_secret: string) {
  const { app_id, expires_at, revoked_at, last_used_at, secrets, ...rest } = toDetails(row, 0);
  return { app_id, app_secret, ...rest };
}

/** The time at which a key expires. Errors: validationFailed for an invalid or past time. */
export function parseExpiry(text: string, now: number): string {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw invalidField("expires_at", "must be a time, such as 2030-01-31T00:00:00Z");
  if (at <= now) throw invalidField("expires_at", "must be in the future");
  return toTimestamp(at);
}

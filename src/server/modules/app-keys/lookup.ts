import { sql } from "drizzle-orm";
import type { Tenant } from "../../context.ts";
import type { Database } from "../../db/session.ts";
import { get, statement } from "../../db/statement.ts";
import { revision, tenants } from "../tenants/table.ts";
import { type OriginPattern, parseOriginPattern } from "./origin-pattern.ts";
import { appKeyOrigins, appKeySecrets, appKeys } from "./table.ts";

const param = sql.placeholder;

/** A tenant as the request path needs it. */
export type KnownTenant = Tenant & { suspended: boolean };

/** A key as the request path needs it, with times in epoch milliseconds. */
export interface KnownKey {
  appId: string;
  tenantId: string;
  usable: boolean;
  scopes: ReadonlySet<string>;
  expiresAt: number;
  enforceOrigins: boolean;
  allowNoOrigin: boolean;
  patterns: OriginPattern[];
  secrets: { id: string; hash: Uint8Array; expiresAt: number; lastUsedAt: number }[];
}

const selectTenant = statement<{
  id: string;
  namespace: string;
  title: string;
  currency: string;
  language: string;
  status: string;
}>(sql`
  select id, namespace, title, currency, language, status from ${tenants} where namespace = ${param("namespace")}`);
const selectKey = statement<{
  id: string;
  tenant_id: string;
  scopes: string;
  usable: number;
  expires_at: string | null;
  enforce_origins: number;
  allow_no_origin: number;
  origins: string;
  secrets: string;
}>(sql`
  select id, tenant_id, scopes, (active = 1 and published = 1 and revoked_at is null) as usable, expires_at,
    enforce_origins, allow_no_origin,
    (select json_group_array(pattern) from ${appKeyOrigins} o where o.app_id = k.id) as origins,
    (select json_group_array(json_array(s.id, s.hash, s.expires_at, s.last_used_at))
      from ${appKeySecrets} s where s.app_id = k.id) as secrets
  from ${appKeys} k where id = ${param("appId")}`);
const selectRevision = statement<{ value: number }>(sql`select value from ${revision} where id = 1`);

/** More kept entries than this mean that someone is guessing; starting over costs less than remembering. */
const mostKept = 10_000;

/** Tenants and keys by name, always as the database has them at this moment. */
export interface CredentialLookup {
  tenant(namespace: string): KnownTenant | null | Promise<KnownTenant | null>;
  key(appId: string): KnownKey | null | Promise<KnownKey | null>;
}

/**
 * Looks up tenants and keys. Beside a local file they are kept in memory, and every look asks SQLite whether another
 * connection has committed since: if so, and the `revision` row has moved, everything kept is dropped. So what a
 * command writes holds from the next request on. Elsewhere every look is judged at the primary.
 */
export function createCredentialLookup(db: Database): CredentialLookup {
  const keptTenants = new Map<string, KnownTenant>();
  const keptKeys = new Map<string, KnownKey>();
  let seenVersion: number | null = null;
  let seenRevision: number | undefined;
  let isConfirmed = false;
  let confirming: Promise<void> | undefined;

  async function refresh(version: number): Promise<void> {
    const row = await get(db.primary, selectRevision);
    if (row?.value !== seenRevision) {
      keptTenants.clear();
      keptKeys.clear();
      seenRevision = row?.value;
    }
    seenVersion = version;
  }

  /**
   * Undefined when what is kept stands; otherwise the promise that it will. Asked once a turn of the event loop: the
   * requests of one turn had all arrived before the first of them asked, so none can have followed a later commit.
   */
  function confirm(): Promise<void> | undefined {
    if (isConfirmed) return confirming;
    const version = db.dataVersion();
    if (version === null) {
      keptTenants.clear();
      keptKeys.clear();
      return undefined;
    }
    isConfirmed = true;
    setImmediate(forget);
    if (version !== seenVersion) {
      confirming = refresh(version).finally(() => {
        confirming = undefined;
        // What could not be read has not been confirmed.
        isConfirmed = seenVersion === version;
      });
    }
    return confirming;
  }

  function forget(): void {
    isConfirmed = false;
  }

  async function loadTenant(namespace: string, after: Promise<void> | undefined): Promise<KnownTenant | null> {
    await after;
    const kept = keptTenants.get(namespace);
    if (kept) return kept;
    const at = seenRevision;
    const row = await get(db.primary, selectTenant, { namespace });
    if (!row) return null;
    const { status, ...rest } = row;
    const tenant = { ...rest, suspended: status !== "active" };
    keep(keptTenants, namespace, tenant, at);
    return tenant;
  }

  async function loadKey(appId: string, after: Promise<void> | undefined): Promise<KnownKey | null> {
    await after;
    const kept = keptKeys.get(appId);
    if (kept) return kept;
    const at = seenRevision;
    const row = await get(db.primary, selectKey, { appId });
    if (!row) return null;
    const key: KnownKey = {
      appId: row.id,
      tenantId: row.tenant_id,
      usable: row.usable === 1,
      scopes: new Set<string>(JSON.parse(row.scopes)),
      expiresAt: toEpoch(row.expires_at),
      enforceOrigins: row.enforce_origins === 1,
      allowNoOrigin: row.allow_no_origin === 1,
      patterns: (JSON.parse(row.origins) as string[]).map(parseOriginPattern),
      secrets: (JSON.parse(row.secrets) as [string, string, string | null, string | null][]).map(
        ([id, hash, expiresAt, lastUsedAt]) => ({
          id,
          hash: Buffer.from(hash, "hex"),
          expiresAt: toEpoch(expiresAt),
          lastUsedAt: lastUsedAt === null ? 0 : Date.parse(lastUsedAt),
        }),
      ),
    };
    keep(keptKeys, appId, key, at);
    return key;
  }

  function keep<T>(kept: Map<string, T>, name: string, value: T, at: number | undefined): void {
    // A refresh while this was loading may have dropped what it replaces.
    if (at !== seenRevision || seenVersion === null) return;
    if (kept.size >= mostKept) kept.clear();
    kept.set(name, value);
  }

  return {
    tenant: (namespace) => {
      const pending = confirm();
      return (pending ? undefined : keptTenants.get(namespace)) ?? loadTenant(namespace, pending);
    },
    key: (appId) => {
      const pending = confirm();
      return (pending ? undefined : keptKeys.get(appId)) ?? loadKey(appId, pending);
    },
  };
}

function toEpoch(timestamp: string | null): number {
  return timestamp === null ? Number.POSITIVE_INFINITY : Date.parse(timestamp);
}

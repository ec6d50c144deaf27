import { timingSafeEqual } from "node:crypto";
import { and, eq, isNull, lte, or, sql } from "drizzle-orm";
import { atTurnEnd } from "../../concurrency/event-loop.ts";
import type { Tenant } from "../../context.ts";
import type { Database } from "../../db/session.ts";
import { bind, equals, get, param, params, rowsOf, run, statement } from "../../db/statement.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { isNamespace } from "../tenants/input.ts";
import { revision, tenants, workFields } from "../tenants/table.ts";
import { parseOriginPattern } from "./origin-pattern.ts";
import { appKeyOrigins, appKeySecrets, appKeys } from "./table.ts";

/** The fields of an app key that requests need, with times in epoch milliseconds. */
export type ResolvedKey = ReturnType<typeof toKey>;

type KeyRow = Record<"id" | "tenant_id" | "scopes" | "origins" | "secrets", string> &
  Record<"usable" | "enforce_origins" | "allow_no_origin", number> & { expires_at: string | null };

const resolved = { ...workFields, suspended: sql<number>`status <> 'active'` };
const isNamed = equals(tenants.namespace, "namespace");
const selectTenant = statement((q) => q.select(resolved).from(tenants).where(isNamed));
const selectKey = statement<KeyRow>(sql`
  select id, tenant_id, scopes, (active = 1 and published = 1 and revoked_at is null) as usable, expires_at,
    enforce_origins, allow_no_origin,
    (select json_group_array(pattern) from ${appKeyOrigins} o where o.app_id = k.id) as origins,
    (select json_group_array(json_array(s.id, s.hash, s.expires_at, s.last_used_at))
      from ${appKeySecrets} s where s.app_id = k.id) as secrets
  from ${appKeys} k where id = ${param("appId")}`);
const selectRevision = statement((q) => q.select({ value: revision.value }).from(revision).where(eq(revision.id, 1)));

/** The cache of stores and keys holds at least this many entries, and at most twice as many. */
const minKept = 5000;

/** The store and key of a request; null if unknown. `stored`, the JSON of both rows, is set only by a libSQL server. */
export interface ResolvedCredentials {
  tenant: (Tenant & { suspended: number }) | null;
  key: ResolvedKey | null;
  stored?: string;
}

export interface CredentialLookup {
  /** Returns the store of a namespace, and the key if `appId` is given, as they are now in the database. */
  find(namespace: string, appId: string | undefined): ResolvedCredentials | Promise<ResolvedCredentials>;
  /** Returns the store and key as last read from a database server; undefined if they are not cached. */
  cached?(namespace: string, appId: string | undefined): ResolvedCredentials | undefined;
}

/**
 * Creates the cached look-up of stores and keys. With a local file, the first look-up in a turn of the event loop asks
 * SQLite whether another connection has committed. If so, and the `revision` row has changed, the cache is cleared, so
 * that a command takes effect at the next request. With a libSQL server, each turn reads store and key.
 */
export function createCredentialLookup(db: Database): CredentialLookup {
  return db.kind === "file" ? lookUpInFile(db) : lookUpAtServer(db);
}

function lookUpInFile(db: Database): CredentialLookup {
  const cached = new LruCache<ResolvedCredentials>(minKept);
  let seenVersion: number | null = null;
  let seenRevision: number | undefined;
  /** The turn of the event loop in which the cache was checked last. `confirming` is set while the check runs. */
  let turn: { confirming?: Promise<void> | undefined } | undefined;

  /**
   * Returns undefined if the cache is valid, otherwise a promise that resolves after a refresh. Checks once per turn of
   * the event loop: all requests of a turn arrived before its check, so none needs to see a later commit.
   */
  function confirm(): Promise<void> | undefined {
    if (turn) return turn.confirming;
    // Each turn has its own object, so that the end of an earlier turn does not end a later one.
    const mine: { confirming?: Promise<void> | undefined } = {};
    turn = mine;
    const end = () => {
      if (turn === mine) turn = undefined;
    };
    atTurnEnd(end);
    const version = db.dataVersion();
    if (version !== seenVersion) mine.confirming = refresh(version).finally(() => delete mine.confirming);
    mine.confirming?.catch(end);
    return mine.confirming;
  }

  async function refresh(version: number | null): Promise<void> {
    const row = await get(db, selectRevision);
    if (row?.value !== seenRevision) cached.clear();
    seenRevision = row?.value;
    seenVersion = version;
  }

  async function load(name: string, namespace: string, appId: string | undefined, after?: Promise<void>) {
    await after;
    if (!isNamespace(namespace)) return { tenant: null, key: null };
    const found = cached.get(name);
    if (found) return found;
    const known = await readCredentials(db, namespace, appId);
    if (known.tenant && (appId === undefined || known.key)) cached.set(name, known);
    return known;
  }

  return {
    find(namespace, appId) {
      const name = `${namespace} ${appId}`;
      const pending = confirm();
      return (pending ? undefined : cached.get(name)) ?? load(name, namespace, appId, pending);
    },
  };
}

function lookUpAtServer(db: Database): CredentialLookup {
  const cached = new LruCache<ResolvedCredentials>(minKept);
  const reading = new Map<string, Promise<ResolvedCredentials>>();
  return {
    find(namespace, appId) {
      if (!isNamespace(namespace)) return { tenant: null, key: null };
      const name = `${namespace} ${appId}`;
      const begun = reading.get(name);
      if (begun) return begun;
      const known = readCredentials(db, namespace, appId).then((known) => {
        cached.set(name, known);
        return known;
      });
      if (reading.size === 0) atTurnEnd(() => reading.clear());
      reading.set(name, known);
      return known;
    },
    cached: (namespace, appId) => cached.get(`${namespace} ${appId}`),
  };
}

async function readCredentials(db: Database, namespace: string, appId?: string): Promise<ResolvedCredentials> {
  const reads = [bind(selectTenant, { namespace })];
  if (appId !== undefined) reads.push(bind(selectKey, { appId }));
  const [tenants, keys] = await db.batch(reads, "read");
  const [tenant = null] = rowsOf(selectTenant, tenants);
  const [keyRow] = rowsOf(selectKey, keys);
  const known = { tenant, key: keyRow ? toKey(keyRow) : null };
  return db.kind === "server" ? { ...known, stored: JSON.stringify([tenant, keyRow]) } : known;
}

export async function hasTenant(db: Database, namespace: string): Promise<boolean> {
  return (await get(db, selectTenant, { namespace })) !== undefined;
}

function toKey(row: KeyRow) {
  const secrets = JSON.parse(row.secrets) as [string, string, string | null, string | null][];
  return {
    appId: row.id,
    tenantId: row.tenant_id,
    usable: row.usable === 1,
    scopes: new Set<string>(JSON.parse(row.scopes)),
    expiresAt: toEpoch(row.expires_at),
    enforceOrigins: row.enforce_origins === 1,
    allowNoOrigin: row.allow_no_origin === 1,
    patterns: (JSON.parse(row.origins) as string[]).map(parseOriginPattern),
    secrets: secrets.map(([id, hash, expiresAt, lastUsedAt]) => ({
      id,
      hash: Buffer.from(hash, "hex"),
      expiresAt: toEpoch(expiresAt),
      lastUsedAt: lastUsedAt === null ? 0 : Date.parse(lastUsedAt),
    })),
  };
}

function toEpoch(timestamp: string | null): number {
  return timestamp === null ? Number.POSITIVE_INFINITY : Date.parse(timestamp);
}

/** Whether two hashes are equal, compared in constant time. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

const everyMs = 60_000;

// With this condition, all processes together write at most once a minute per secret.
const { id, lastUsedAt } = appKeySecrets;
const isDue = and(eq(id, param("id")), or(isNull(lastUsedAt), lte(lastUsedAt, param("before"))));
const touchSecret = statement((q) => q.update(appKeySecrets).set(params("lastUsedAt")).where(isDue));

/** Creates a function that records a secret's use in the background, at most once a minute. Failures are ignored. */
export function createUsageRecorder(db: Database): (secret: { id: string; lastUsedAt: number }, now: number) => void {
  const noted = new LruCache<number>(5000);
  return (secret, now) => {
    const last = noted.get(secret.id) ?? secret.lastUsedAt;
    if (now - last < everyMs) return;
    noted.set(secret.id, now);
    const times = { lastUsedAt: toTimestamp(now), before: toTimestamp(now - everyMs) };
    run(db, touchSecret, { id: secret.id, ...times }).catch(() => noted.delete(secret.id));
  };
}

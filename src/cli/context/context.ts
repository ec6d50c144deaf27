import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import {
  type Config,
  type DatabaseConfig,
  paymentOptions,
  readConfig,
  readDatabaseConfig,
  readInheritedConfig,
} from "../../server/config/config.ts";
import { databaseFile, refuseStandby } from "../../server/config/data-dir.ts";
import { type ConfigFlags, openOptions } from "../../server/config/environment.ts";
import type { Ctx, SystemCtx } from "../../server/context.ts";
import type { Database } from "../../server/db/session.ts";
import { notFound, wrongState } from "../../server/errors.ts";
import type { ListPage } from "../../server/pagination/list-page.ts";
import { attempt } from "../../server/values/attempt.ts";
import { type NameKind, requiredNamespaceArg, type SharedValues, wordArg } from "../framework/args.ts";
import { type Console, info, invalidFlag } from "../terminal/console.ts";

export type StoreArgs = SharedValues & { namespace: string };
type Opened = { db: Database };
type Work<T> = (ctx: SystemCtx & Opened, config: DatabaseConfig) => Promise<T>;

/**
 * Runs one service call on the database that flags and environment name.
 * @throws notFound if the data directory has no database; wrongState if its schema is older than this program;
 * unavailable if it is newer, or the database cannot be opened.
 */
export async function withContext<T>(flags: DatabaseFlags, console: Console, work: Work<T>): Promise<T> {
  requireDatabase(flags, console);
  return beginContext(flags, console, work);
}

/** Does the same as `withContext`, but creates a missing database. */
export function beginContext<T>(flags: DatabaseFlags, console: Console, work: Work<T>): Promise<T> {
  return withDatabase(flags, console, async (db, config) => {
    const { migrationStatus } = await import("../../server/db/migrate.ts");
    const migrations = await migrationStatus(db);
    const waiting = migrations.filter(({ appliedAt }) => appliedAt === null).length;
    if (waiting > 0 && waiting < migrations.length) {
      throw wrongState("The database schema is older than this program. Update it: bodega db migrate");
    }
    const { ctx, applied } = await updateSchema(db, config);
    const { nameDatabase } = await import("../../server/db/db-errors.ts");
    if (applied.length > 0) await info(console, `Created a new database: ${nameDatabase(config)}`);
    return work(ctx, config);
  });
}

/** Runs one service call in a store. Errors: those of `withContext`, and notFound for an unknown store. */
export function withTenant<T>(flags: StoreArgs, console: Console, work: (ctx: Ctx & Opened) => Promise<T>): Promise<T> {
  return withContext(flags, console, async (ctx) => {
    const { requireTenant } = await import("../../server/modules/tenants/service.ts");
    return work({ ...ctx, tenant: await requireTenant(ctx, flags.namespace) });
  });
}

export function withPictures<T>(flags: StoreArgs, console: Console, work: (ctx: Ctx) => Promise<T>): Promise<T> {
  return withTenant(flags, console, async (ctx) => {
    const { openMediaBucket } = await import("../../server/modules/media/service.ts");
    return work({ ...ctx, media: openMediaBucket(readCliConfig(flags, console)) });
  });
}

/** Runs one service call in a store, with the settings of the payment providers in its context. */
export function withPayments<T>(flags: StoreArgs, console: Console, work: (ctx: Ctx) => Promise<T>): Promise<T> {
  return withTenant(flags, console, (ctx) => work({ ...ctx, payments: paymentOptions(readCliConfig(flags, console)) }));
}

/**
 * Returns the arguments of a command about one record of a store, and functions that find the record and run work on
 * it. `load` loads the function that finds a record by the typed text.
 */
export function recordArgs<const Name extends string, T>(
  name: Name,
  completes: NameKind | undefined,
  description: string,
  load: () => Promise<(ctx: Ctx, text: string) => Promise<T>>,
) {
  const find = async (ctx: Ctx, text: string) => (await load())(ctx, text);
  const arg = wordArg(description, { completes });
  const args = { [name]: arg, namespace: requiredNamespaceArg } as Record<Name, typeof arg> & {
    namespace: typeof requiredNamespaceArg;
  };
  const withRecord = <R>(
    given: StoreArgs & Record<Name, string>,
    console: Console,
    work: (ctx: Ctx, record: T) => Promise<R>,
  ) => withTenant(given, console, async (ctx) => work(ctx, await find(ctx, given[name])));
  return { args, withRecord, find };
}

/** Throws notFound if there is no database, for commands that need existing data. */
export function requireDatabase(flags: DatabaseFlags, console: Console): void {
  const { databaseUrl, dataDir } = readDatabaseFlags(flags, console);
  if (databaseUrl !== undefined || existsSync(databaseFile(dataDir))) return;
  refuseStandby(dataDir);
  throw notFound("database", undefined, {
    in: dataDir,
    remedy: "Name its directory with --data-dir or BODEGA_DATA_DIR, or create a store there: bodega init",
  });
}

/** Runs `work` on the database, even if its schema is older or newer than this program, then closes the database. */
export async function withDatabase<T>(
  flags: DatabaseFlags,
  console: Console,
  work: (db: Database, config: DatabaseConfig) => Promise<T>,
): Promise<T> {
  const config = readDatabaseFlags(flags, console);
  const { withConfiguredDatabase } = await import("../../server/admin/open-database.ts");
  return withConfiguredDatabase(config, (db) => work(db, config));
}

/** Returns the context for a migrated database. With `leaveModes`, keeps the mode of the secret key's file. */
export async function makeContext(
  db: Database,
  config: DatabaseConfig,
  options: { leaveModes?: boolean } = {},
): Promise<SystemCtx & Opened> {
  const { openVault } = await import("../../server/security/secret-key.ts");
  return {
    db,
    actor: { kind: "terminal", account: accountName() },
    vault: await openVault({ ...config, ...options }, db),
    requestId: randomUUID(),
    now: Date.now,
  };
}

export async function updateSchema(db: Database, config: DatabaseConfig) {
  const { migrate } = await import("../../server/db/migrate.ts");
  const { applied } = await migrate(db);
  const ctx = await makeContext(db, config);
  if (applied.length > 0) {
    const { recordAudit } = await import("../../server/modules/audit/service.ts");
    await recordAudit(ctx, { event: "database.migrated", details: { applied } });
  }
  return { ctx, applied };
}

/** Returns the name of this account in `/etc/passwd`, or its number. Bun's `userInfo` would trust the variable `USER`. */
export function accountName(accountsFile = "/etc/passwd"): string {
  const uid = String(process.getuid?.() ?? "unknown");
  // Some containers do not have this file.
  const accounts = attempt(() => readFileSync(accountsFile, "utf8")) ?? "";
  return new RegExp(`^([^:\n]+):[^:\n]*:${uid}:`, "m").exec(accounts)?.[1] ?? `uid ${uid}`;
}

/** Reads pages until it has `limit` records, or until the last page. */
export async function collectPages<T>(
  limit: number,
  readPage: (query: { limit: number; cursor?: string }) => Promise<ListPage>,
): Promise<T[]> {
  const records: T[] = [];
  for (let cursor: string | null | undefined; cursor !== null && records.length < limit; ) {
    // Services return at most 100 records a page, so a larger limit takes several pages.
    const size = Math.min(100, limit - records.length);
    const { json, page } = await readPage({ limit: size, ...(cursor && { cursor }) });
    records.push(...(JSON.parse(json) as T[]));
    cursor = page.next_cursor;
  }
  return records;
}

export type DatabaseFlags = Pick<SharedValues, "data-dir" | "database-url">;

export function readCliConfig(flags: DatabaseFlags, console: Console): Config {
  return readConfig(toConfigFlags(flags), console.env);
}

export function readDatabaseFlags(flags: DatabaseFlags, console: Console): DatabaseConfig {
  return readInheritedConfig(console.env) ?? readDatabaseConfig(openOptions(toConfigFlags(flags), console.env));
}

function toConfigFlags(flags: DatabaseFlags): ConfigFlags {
  const databaseUrl = flags["database-url"];
  const hint = "Set the token in BODEGA_DATABASE_AUTH_TOKEN, or in a file that BODEGA_DATABASE_AUTH_TOKEN_FILE names.";
  refuseSecret("--database-url", databaseUrl ?? "", hint);
  return flags as ConfigFlags;
}

/** Refuses an address in a flag that contains a password or token. The error does not repeat the secret. */
export function refuseSecret(flag: string, url: string, hint: string): void {
  if (!URL.canParse(url)) return;
  const { password, searchParams } = new URL(url);
  const names = [...searchParams.keys()];
  if (password === "" && !names.some((name) => /token|password|secret/i.test(name))) return;
  throw invalidFlag(flag, "must not contain a secret, because every user of the machine can read arguments", hint);
}

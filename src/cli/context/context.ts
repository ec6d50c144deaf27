import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { Config } from "../../server/config/config.ts";
import type { Ctx, SystemCtx } from "../../server/context.ts";
import type { Database } from "../../server/db/session.ts";
import type { SharedValues } from "../framework/args.ts";
import type { Console } from "../terminal/console.ts";
import { info } from "../terminal/output.ts";
import { accountName } from "./account-name.ts";

/** What of a command's arguments says which database is meant. */
export type DatabaseFlags = Pick<SharedValues, "data-dir" | "database-url">;

/**
 * Runs one service call on the database that flags and environment name.
 * @throws notFound when the folder holds no database, wrongState when the schema is older than this program, unavailable when it
 * is newer or the database is not to be had.
 */
export async function withContext<T>(
  flags: DatabaseFlags,
  console: Console,
  work: (ctx: SystemCtx, config: Config) => Promise<T>,
): Promise<T> {
  await requireDatabase(flags, console);
  return beginContext(flags, console, work);
}

/**
 * The same for the commands that a shop may begin with. A new database gets its schema first, so that `tenant create` works
 * before the first `serve`.
 */
export function beginContext<T>(
  flags: DatabaseFlags,
  console: Console,
  work: (ctx: SystemCtx, config: Config) => Promise<T>,
): Promise<T> {
  return withDatabase(flags, console, async (db, place, config) => {
    const { prepareSchema } = await import("./prepare-schema.ts");
    const applied = await prepareSchema(db);
    if (applied.length > 0) await info(console, `Made a new database: ${place}`);
    const ctx = await makeContext(db, config);
    await recordMigration(ctx, applied);
    return work(ctx, config);
  });
}

/**
 * Ends a command that works on what there is, where there is nothing, before it makes any of it.
 * @throws notFound when the folder holds no database file.
 */
export async function requireDatabase(flags: DatabaseFlags, console: Console): Promise<void> {
  const { readCliConfig } = await import("./read-config.ts");
  const { databaseUrl, dataDir } = readCliConfig(flags, console);
  if (databaseUrl !== undefined) return;
  const { databaseFile } = await import("../../server/config/data-dir.ts");
  if (existsSync(databaseFile(dataDir))) return;
  const { notFound } = await import("../../server/errors.ts");
  throw notFound("database", undefined, {
    in: dataDir,
    remedy: "Name its folder with --data-dir or BODEGA_DATA_DIR, or open a shop there: bodega init",
  });
}

/**
 * Runs one service call within one tenant, as `withContext` does.
 * @throws notFound when there is no such tenant.
 */
export function withTenant<T>(
  flags: DatabaseFlags & { namespace: string },
  console: Console,
  work: (ctx: Ctx) => Promise<T>,
): Promise<T> {
  return withContext(flags, console, async (ctx) => {
    const { requireTenant } = await import("../../server/modules/tenants/service.ts");
    return work({ ...ctx, tenant: await requireTenant(ctx, flags.namespace) });
  });
}

/**
 * Who acts at the terminal, with a database that has its schema.
 * @param options `leaveModes`: the file of the secret key keeps its mode, for who only looks.
 */
export async function makeContext(
  db: Database,
  config: Config,
  options: { leaveModes?: boolean } = {},
): Promise<SystemCtx> {
  const { openVault } = await import("../../server/security/secret-key.ts");
  const { pushOptions } = await import("../../server/config/push-config.ts");
  return {
    db,
    actor: { kind: "terminal", account: accountName() },
    vault: await openVault({ ...config, ...options }, db),
    requestId: randomUUID(),
    now: Date.now,
    clientIp: null,
    push: pushOptions(config),
  };
}

/** Writes down which migrations a command has applied, if any. */
export async function recordMigration(ctx: SystemCtx, applied: string[]): Promise<void> {
  if (applied.length === 0) return;
  const { recordAudit } = await import("../../server/modules/audit/service.ts");
  await recordAudit(ctx, { event: "database.migrated", details: { applied } });
}

/**
 * Opens the database whatever its schema, and closes it whatever happens.
 * @param work gets the database, where it is (for people), and the configuration.
 */
export async function withDatabase<T>(
  flags: DatabaseFlags,
  console: Console,
  work: (db: Database, place: string, config: Config) => Promise<T>,
): Promise<T> {
  const { readCliConfig } = await import("./read-config.ts");
  const config = readCliConfig(flags, console);
  const { withConfiguredDatabase } = await import("../../server/db/open.ts");
  return withConfiguredDatabase(config, (db) => work(db, formatPlace(config), config));
}

/** Where the database is, without what a server's address may hold besides its host. */
function formatPlace({ databaseUrl, dataDir }: Config): string {
  return databaseUrl !== undefined && URL.canParse(databaseUrl) ? new URL(databaseUrl).host : dataDir;
}

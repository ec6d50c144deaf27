import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { commandLockDeadlineMs, openConfiguredDatabase, withConfiguredDatabase } from "../admin/open-database.ts";
import type { Config } from "../config/config.ts";
import { standbyFile } from "../config/data-dir.ts";
import type { SystemCtx } from "../context.ts";
import { locateFailure, nameDatabase } from "../db/db-errors.ts";
import type { Database } from "../db/session.ts";
import { type AppError, unavailable } from "../errors.ts";
import { requireTenant } from "../modules/tenants/service.ts";
import { closedVault } from "../security/secret-key.ts";
import { checkDatabase } from "./database/check-database.ts";
import { checkBackups, checkReplication, checkRestoreTest, checkStandby } from "./environment/backups.ts";
import { checkMail, checkSecretKey, checkSettings, checkTls } from "./environment/configuration.ts";
import { checkDirectory, checkDisk, checkFiles } from "./environment/data-dir.ts";
import { checkPublicUrl } from "./environment/public-url.ts";
import { checkClock, checkDurability, checkServer } from "./environment/server.ts";
import { checkAccounts, checkKeys, checkOutbox, checkPush, checkStores, checkWebhooks } from "./environment/stores.ts";
import { type CheckSubject, finding, reasonOf, type StoreSubject } from "./finding.ts";
import { type Checks, type Report, Run, type RunOptions, recordChecks } from "./run.ts";

const directoryChecks: Checks<CheckSubject> = { directory: checkDirectory, files: checkFiles, disk: checkDisk };
const serverChecks: Checks<StoreSubject> = {
  ...{ settings: checkSettings, server: checkServer, durability: checkDurability, secret: checkSecretKey },
  ...{ clock: checkClock, backups: checkBackups, replication: checkReplication, restore: checkRestoreTest },
  ...{ mail: checkMail, tls: checkTls, address: checkPublicUrl, stores: checkStores, accounts: checkAccounts },
  ...{ keys: checkKeys, outbox: checkOutbox, push: checkPush, webhooks: checkWebhooks },
};
/** These also run for one store (`-n`). */
const ofStores = ["stores", "accounts", "keys", "outbox", "webhooks"];
/** Only these need a database. */
const ofDatabase = [...ofStores, "backups", "push"];

/** Checks that can be omitted. Other checks need a directory and a database that can be opened. */
export const optionalChecks = [
  ...["text", "integrity", "references", "files", "disk"],
  ...[serverChecks, { standby: checkStandby }, recordChecks].flatMap(Object.keys),
];

export type DoctorOptions = RunOptions & { deps: DoctorDeps };

interface DoctorDeps extends Pick<CheckSubject, "now" | "env" | "version" | "uid" | "timeoutMs" | "command"> {
  makeContext(db: Database, config: Config, options: { leaveModes: boolean }): Promise<SystemCtx>;
}

/** Checks the environment of a server, its database and its records. A server may be running. Errors: notFound. */
export async function runDoctor(config: Config, options: DoctorOptions): Promise<Report> {
  const { namespace, deps } = options;
  const run = new Run(options);
  const subject: CheckSubject = { ...deps, config, ctx: null, tenant: null };
  if (config.databaseUrl === undefined && existsSync(standbyFile(config.dataDir))) {
    await run.runEnvironment({ ...directoryChecks, settings: checkSettings, standby: checkStandby }, subject);
    return run.report();
  }
  if (namespace === undefined) await run.runEnvironment(directoryChecks, subject);
  const { db, ctx } = await openChecked(run, config, options);
  try {
    const tenant = ctx !== null && namespace !== undefined ? await requireTenant(ctx, namespace) : null;
    const isWanted = ([id]: [string, unknown]) =>
      (namespace === undefined || ofStores.includes(id)) && (ctx !== null || !ofDatabase.includes(id));
    const checks = Object.fromEntries(Object.entries(serverChecks).filter(isWanted));
    await run.runEnvironment(checks, { ...subject, ctx, tenant } as StoreSubject);
    await run.applyFixes(ctx);
    if (ctx !== null) await run.runRecords({ ...subject, ctx, tenant });
  } finally {
    await db?.close();
  }
  return run.report();
}

/** Checks a database and its records without changing anything, for `db check`. Errors: as `checkDatabase`. */
export async function runDatabaseCheck(config: Config, options: RunOptions & { deps: Pick<DoctorDeps, "now"> }) {
  const { now, command } = options.deps;
  const run = new Run(options);
  const isUsable = await checkDatabase(config, { command, isQuick: false, step: run.databaseStep });
  // Records of a damaged database may be unreadable.
  if (isUsable && run.report().ok) {
    await withConfiguredDatabase(config, (db) => {
      const vault = closedVault(unavailable());
      const ctx: SystemCtx = { db, actor: { kind: "server" }, vault, requestId: randomUUID(), now };
      return run.runRecords({ ctx, tenant: null, now, command });
    });
  }
  return run.report();
}

/** Opens the database. Returns null for both if it cannot be used, and reports this. */
async function openChecked(run: Run, config: Config, { namespace, deps }: DoctorOptions) {
  let db: Database | null = null;
  try {
    const { command } = deps;
    const isQuick = namespace !== undefined;
    if (!(await checkDatabase(config, { command, isQuick, step: run.databaseStep }))) return { db, ctx: null };
    db = await openConfiguredDatabase(config, { lockDeadlineMs: commandLockDeadlineMs, leaveModes: true });
    return { db, ctx: await deps.makeContext(db, config, { leaveModes: true }) };
  } catch (error) {
    await db?.close().catch(() => {});
    // The check of the directory reports a missing one.
    if (config.databaseUrl !== undefined || existsSync(config.dataDir)) {
      const located = locateFailure(error, config, deps.command);
      const remedy = (located as Partial<AppError>).remedy ?? "Check that this account can read the data directory.";
      const found = finding("error", nameDatabase(config), reasonOf(located), remedy);
      await run.databaseStep("database", () => [found]);
    }
    return { db: null, ctx: null };
  }
}

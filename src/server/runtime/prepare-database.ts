import { randomUUID } from "node:crypto";
import type { Config } from "../config/config.ts";
import { databaseFile } from "../config/data-dir.ts";
import type { SystemCtx } from "../context.ts";
import { describeKeptWals } from "../db/local/kept-wal.ts";
import { migrate } from "../db/migrate.ts";
import type { Database } from "../db/session.ts";
import { AppError } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { recordAudit } from "../modules/audit/service.ts";
import { makeVapidKeys } from "../modules/notifications/providers/vapid.ts";
import { claimDatabase, closedVault, openVault } from "../security/secret-key.ts";

/** Throws unavailable as `migrate`; wrongState as `openServerVault`. */
export async function prepareDatabase(config: Config, db: Database, log: LogWriter) {
  const keptWals = db.kind === "file" ? describeKeptWals(databaseFile(config.dataDir)) : [];
  for (const { message, remedy } of keptWals) log.notice("error", `${message} ${remedy}`);
  const { applied } = await migrate(db);
  const opened = await openServerVault(config, db, log);
  const { vault, hasKey } = opened;
  if (hasKey) await makeVapidKeys({ db, vault, now: Date.now });
  if (applied.length > 0) {
    const actor = { kind: "server" } as const;
    const ctx: SystemCtx = { db, actor, vault, requestId: randomUUID(), now: Date.now };
    await recordAudit(ctx, { event: "database.migrated", details: { applied } });
  }
  return opened;
}

/**
 * Opens the vault. On a file, a server refuses to start with another key. On a libSQL database, which several servers
 * may use, it runs without the features that need the key.
 * @throws wrongState for the key of another database, unavailable if the key can neither be read nor created.
 */
export async function openServerVault(config: Config, db: Database, log: LogWriter) {
  const vault = await openVault(config, db);
  try {
    await claimDatabase(db, vault);
    return { vault, hasKey: true };
  } catch (error) {
    const isShared = config.databaseUrl !== undefined;
    if (!isShared || !(error instanceof AppError) || error.kind !== "wrongState") throw error;
    log.notice("error", `two-factor sign-in and password resets fail on this server: ${error.message}`);
    return { vault: closedVault(error), hasKey: false };
  }
}

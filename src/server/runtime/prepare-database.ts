import { randomUUID } from "node:crypto";
import type { Config } from "../config/config.ts";
import { databaseFile } from "../config/data-dir.ts";
import type { SystemCtx } from "../context.ts";
import { describeKeptWals } from "../db/local/kept-wal.ts";
import { migrate } from "../db/migrate.ts";
import type { Database } from "../db/session.ts";
import type { LogWriter } from "../logging/logger.ts";
import { recordAudit } from "../modules/audit/service.ts";
import { makeVapidKeys } from "../modules/notifications/providers/vapid.ts";
import { claimDatabase, openVault } from "../security/secret-key.ts";

/** Migrates the database and opens its vault. Errors: unavailable; wrongState for the key of another database. */
export async function prepareDatabase(config: Config, db: Database, log: LogWriter) {
  const keptWals = db.kind === "file" ? describeKeptWals(databaseFile(config.dataDir)) : [];
  for (const { message, remedy } of keptWals) log.notice("error", `${message} ${remedy}`);
  const { applied } = await migrate(db);
  const vault = await openVault(config, db);
  await claimDatabase(db, vault);
  await makeVapidKeys({ db, vault, now: Date.now });
  if (applied.length > 0) {
    const actor = { kind: "server" } as const;
    const ctx: SystemCtx = { db, actor, vault, requestId: randomUUID(), now: Date.now };
    await recordAudit(ctx, { event: "database.migrated", details: { applied } });
  }
  return vault;
}

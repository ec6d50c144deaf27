import { statSync } from "node:fs";
import { sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { readLast } from "../backup/location.ts";
import { databaseFile } from "../config/data-dir.ts";
import { FileDatabase } from "../db/local/file-database.ts";
import type { Database } from "../db/session.ts";
import { get, param, statement } from "../db/statement.ts";
import { mailOutbox } from "../modules/mail/table.ts";
import { pushDeliveries } from "../modules/notifications/table.ts";
import { webhookDeliveries } from "../modules/webhooks/table.ts";
import { freeDiskBytes } from "./readiness.ts";

const dayMs = 86_400_000;
/** The time limit of the query. An unreachable database must not delay the other figures. */
const timeoutMs = 1000;

/** Figures of the database and its disk, as in `GET /status`. Null means missing or unknown. */
export type DatabaseFigures = Awaited<ReturnType<typeof readDatabaseFigures>>;

interface FigureDeps {
  db: Database;
  dataDir: string;
  certificateEnd: number | undefined;
}

// Each count reads a small partial index. `failed` counts deliveries that were given up within the last day.
const figuresOf = (table: SQLiteTable, isEnded = sql``) => sql`json_object(
  'waiting', (select count(*) from ${table} where status = 'waiting'),
  'failed', (select count(*) from ${table} where ${isEnded} status = 'failed' and finished_at > ${param("since")}))`;
const selectQueues = statement<{ queues: string }>(sql`
  select json_object('mail', ${figuresOf(mailOutbox, sql`status <> 'waiting' and`)},
    'webhooks', ${figuresOf(webhookDeliveries)}, 'pushes', ${figuresOf(pushDeliveries)}) as queues`);
type Queues = Record<"mail" | "webhooks" | "pushes", { waiting: number; failed: number }>;

export async function readDatabaseFigures({ db, dataDir, certificateEnd }: FigureDeps) {
  const hasFile = db.kind === "file";
  const asked = get(db, selectQueues, { since: new Date(Date.now() - dayMs).toISOString() }).catch(() => undefined);
  const row = await Promise.race([asked, Bun.sleep(timeoutMs)]);
  const [backup, test] = [readLast(dataDir, "backup"), readLast(dataDir, "restore-test")];
  return {
    database: {
      bytes: hasFile ? (statSync(databaseFile(dataDir), { throwIfNoEntry: false })?.size ?? null) : null,
      wal_bytes: db instanceof FileDatabase ? db.walBytes() : null,
      disk_free_bytes: hasFile ? freeDiskBytes(dataDir) : null,
    },
    queues: row ? (JSON.parse(row.queues) as Queues) : null,
    certificate_expires_at: certificateEnd === undefined ? null : new Date(certificateEnd).toISOString(),
    last_backup_at: backup.last_success?.at ?? null,
    last_backup_failed_at: backup.last_failure?.at ?? null,
    last_restore_test_at: test.last_success?.at ?? null,
    last_restore_test_failed_at: test.last_failure?.at ?? null,
  };
}

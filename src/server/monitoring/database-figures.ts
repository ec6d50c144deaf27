import { statSync } from "node:fs";
import { type SQL, sql } from "drizzle-orm";
import { readLastBackups } from "../backup/last.ts";
import { databaseFile } from "../config/data-dir.ts";
import type { Database } from "../db/session.ts";
import { get, param, statement } from "../db/statement.ts";
import { mailOutbox } from "../modules/mail/table.ts";
import { pushDeliveries } from "../modules/notifications/table.ts";
import { webhookDeliveries } from "../modules/webhooks/table.ts";
import { freeDiskBytes } from "./readiness.ts";
import type { QueueStatus, ServerStatus } from "./server-status.ts";

/** Figures are cached this long: counting reads every waiting row. */
const keptMs = 5000;
const dayMs = 86_400_000;
/** An unreachable database must not delay the other figures. */
const timeoutMs = 1000;

/** Figures of the database and its disk. */
export type DatabaseFigures = Pick<
  ServerStatus,
  "database" | "queues" | "last_backup_at" | "last_backup_failed_at" | "certificate_expires_at"
>;

interface FigureDeps {
  db: Database;
  dataDir: string;
  /** When the server's certificate expires, in epoch milliseconds; undefined without one. */
  certificateEnd: () => number | undefined;
  now: () => number;
}

interface QueueRow extends Record<string, number> {
  mailWaiting: number;
  mailFailed: number;
  webhooksWaiting: number;
  webhooksFailed: number;
  pushesWaiting: number;
  pushesFailed: number;
}

const since = param("since");
const count = (rows: SQL) => sql`(select count(*) from ${rows})`;
// Each count reads a small partial index.
const selectQueues = statement<QueueRow>(sql`select
  ${count(sql`${mailOutbox} where status = 'queued'`)} as mailWaiting,
  ${count(sql`${mailOutbox} where status <> 'queued' and updated_at > ${since} and status = 'failed'`)} as mailFailed,
  ${count(sql`${webhookDeliveries} where status = 'waiting'`)} as webhooksWaiting,
  ${count(sql`${webhookDeliveries} where status = 'failed' and finished_at > ${since}`)} as webhooksFailed,
  ${count(sql`${pushDeliveries} where status = 'waiting'`)} as pushesWaiting,
  ${count(sql`${pushDeliveries} where status = 'failed' and finished_at > ${since}`)} as pushesFailed`);

/** Makes a reader of the figures that asks the database at most every five seconds. */
export function createDatabaseReader(deps: FigureDeps): () => Promise<DatabaseFigures> {
  let kept: Promise<DatabaseFigures> | undefined;
  let readAt = 0;
  return () => {
    const now = deps.now();
    if (kept === undefined || Math.abs(now - readAt) >= keptMs) {
      readAt = now;
      kept = read(deps);
    }
    return kept;
  };
}

async function read({ db, dataDir, certificateEnd, now }: FigureDeps): Promise<DatabaseFigures> {
  const hasFile = db.kind === "file";
  const asked = get(db, selectQueues, { since: new Date(now() - dayMs).toISOString() }).catch(() => undefined);
  const row = await Promise.race([asked, Bun.sleep(timeoutMs)]);
  const end = certificateEnd();
  const backups = readLastBackups(dataDir);
  return {
    database: {
      kind: db.kind,
      bytes: hasFile ? sizeOf(databaseFile(dataDir)) : null,
      log_bytes: hasFile ? db.walBytes() : null,
      disk_free_bytes: db.kind === "server" ? null : freeDiskBytes(dataDir),
    },
    queues: row ? { mail: queue(row, "mail"), webhooks: queue(row, "webhooks"), pushes: queue(row, "pushes") } : null,
    last_backup_at: backups.last_success?.at ?? null,
    last_backup_failed_at: backups.last_failure?.at ?? null,
    certificate_expires_at: end === undefined ? null : new Date(end).toISOString(),
  };
}

function queue(row: QueueRow, name: string): QueueStatus {
  return { waiting: row[`${name}Waiting`] ?? 0, failed: row[`${name}Failed`] ?? 0 };
}

function sizeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null;
}

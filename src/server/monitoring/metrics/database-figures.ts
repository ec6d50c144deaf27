import { statSync } from "node:fs";
import { type SQL, sql } from "drizzle-orm";
import { readLastBackups } from "../../backup/last.ts";
import { databaseFile } from "../../db/local/data-dir.ts";
import type { Database } from "../../db/session.ts";
import { get, param, statement } from "../../db/statement.ts";
import { mailOutbox } from "../../modules/mail/table.ts";
import { pushDeliveries } from "../../modules/notifications/table.ts";
import { webhookDeliveries } from "../../modules/webhooks/table.ts";
import type { QueueStatus, ServerStatus } from "../control/status.ts";
import { freeDiskBytes } from "../readiness.ts";

/** Whoever asks more often than this hears the same again: counting costs a look at every row that waits. */
const keptMs = 5000;
const dayMs = 86_400_000;
/** A database that is away must not hold up what is known without it. */
const timeoutMs = 1000;

/** What stands in the database and on its disk. */
export type DatabaseFigures = Pick<
  ServerStatus,
  "database" | "queues" | "last_backup_at" | "last_backup_failed_at" | "certificate_expires_at"
>;

interface FigureDeps {
  db: Database;
  dataDir: string;
  /** When the certificate that is presented ends, in epoch milliseconds; undefined without one. */
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
// Each is answered from an index that holds little else.
const selectQueues = statement<QueueRow>(sql`select
  ${count(sql`${mailOutbox} where status = 'queued'`)} as mailWaiting,
  ${count(sql`${mailOutbox} where status <> 'queued' and updated_at > ${since} and status = 'failed'`)} as mailFailed,
  ${count(sql`${webhookDeliveries} where status = 'waiting'`)} as webhooksWaiting,
  ${count(sql`${webhookDeliveries} where status = 'failed' and finished_at > ${since}`)} as webhooksFailed,
  ${count(sql`${pushDeliveries} where status = 'waiting'`)} as pushesWaiting,
  ${count(sql`${pushDeliveries} where status = 'failed' and finished_at > ${since}`)} as pushesFailed`);

/** Makes the reader of what stands in the database; it asks at most every five seconds, however many want to know. */
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

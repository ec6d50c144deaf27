import { isServerRunning } from "../../db/local/server-lock.ts";
import type { Database } from "../../db/session.ts";
import { formatBytes, MiB } from "../../values/bytes.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";

/** The server empties the log at 4 MiB, and at 16 MiB whatever else goes on. */
const largeLog = 64 * MiB;
const leastUnused = 16 * MiB;

/** How large a database is, in bytes; null where there is no file. */
export interface DatabaseSize {
  bytes: number | null;
  /** What waits in the write-ahead log. */
  log_bytes: number | null;
  /** What deleted rows have left, which later ones take. */
  unused_bytes: number | null;
}

/** Asks a database how large it is. */
export async function readSize(db: Pick<Database, "kind" | "execute" | "walBytes">): Promise<DatabaseSize> {
  if (db.kind === "server") return { bytes: null, log_bytes: null, unused_bytes: null };
  const [pageSize, pages, unused] = await Promise.all(
    ["page_size", "page_count", "freelist_count"].map(async (name) => {
      const { rows } = await db.execute(`PRAGMA ${name}`);
      return Number(rows[0]?.[name] ?? 0);
    }),
  );
  const page = pageSize as number;
  return { bytes: page * (pages as number), log_bytes: db.walBytes(), unused_bytes: page * (unused as number) };
}

/** A log that nobody empties, and a file that is mostly empty. */
export const size: Checkup = {
  name: "size",
  async find(about) {
    const { db, config } = about;
    if (db === null) return [];
    const { bytes, log_bytes: log, unused_bytes: unused } = await readSize(db);
    const found: Finding[] = [];
    if (log !== null && log > largeLog) found.push(describeLog(about, db, log, await isServerRunning(config.dataDir)));
    if (bytes !== null && unused !== null && unused > leastUnused && unused > bytes / 4) {
      found.push(describeUnused(about, bytes, unused));
    }
    return found;
  },
};

function describeLog({ config, command }: CheckupDeps, db: Database, log: number, isRunning: boolean): Finding {
  const path = `${config.dataDir}/bodega.db-wal`;
  const size = `The log ${path} has grown to ${formatBytes(log)}`;
  if (isRunning) {
    return {
      severity: "warning",
      subject: path,
      message: `${size}. The server cannot empty it while somebody reads for long, such as another program or a backup.`,
      remedy: `fuser -v ${path}`,
    };
  }
  return {
    severity: "note",
    subject: path,
    message: `${size}, since no server runs that would empty it.`,
    remedy: command("doctor --fix"),
    async mend() {
      if (!(await db.checkpoint())) throw new Error("somebody reads the database");
    },
  };
}

function describeUnused({ config, command }: CheckupDeps, bytes: number, unused: number): Finding {
  return {
    severity: "note",
    subject: `${config.dataDir}/bodega.db`,
    message:
      `${formatBytes(unused)} of the ${formatBytes(bytes)} of the database are unused. Later rows take that room; a backup ` +
      "leaves it out, and so does restoring one while the server is stopped.",
    remedy: command("db backup"),
  };
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "../config/data-dir.ts";
import { backupsFolder, makeBackupsFolder } from "./location.ts";

/** The latest backups of a data directory; times are RFC 3339. */
interface LastBackups {
  last_success: { at: string; place: string; bytes: number } | null;
  /** Null after a later success. */
  last_failure: { at: string; message: string } | null;
}

/** Reads `backups/last.json`; all null where there is none. */
export function readLastBackups(dataDir: string): LastBackups {
  try {
    const { last_success = null, last_failure = null } = JSON.parse(readFileSync(lastPath(dataDir), "utf8"));
    return { last_success, last_failure };
  } catch {
    return { last_success: null, last_failure: null };
  }
}

/** Records the result of a backup in `backups/last.json`. Never throws: the result is reported elsewhere too. */
export function noteBackup(dataDir: string, change: Partial<LastBackups>): void {
  try {
    makeBackupsFolder(dataDir);
    writeWhole(dataDir, lastPath(dataDir), `${JSON.stringify({ ...readLastBackups(dataDir), ...change })}\n`);
  } catch {
    // The disk may be full, which the backup's own error says.
  }
}

function lastPath(dataDir: string): string {
  return join(backupsFolder(dataDir), "last.json");
}

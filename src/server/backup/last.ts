import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { giveToOwner } from "../config/data-dir.ts";
import { backupsFolder, makeBackupsFolder } from "./store/place.ts";

/** How backups of a data directory went lately; times are RFC 3339. */
export interface LastBackups {
  last_success: { at: string; place: string; bytes: number } | null;
  /** Null once a later one has succeeded. */
  last_failure: { at: string; message: string } | null;
}

/** What `backups/last.json` says; all null where there is none. */
export function readLastBackups(dataDir: string): LastBackups {
  try {
    const { last_success = null, last_failure = null } = JSON.parse(readFileSync(lastPath(dataDir), "utf8"));
    return { last_success, last_failure };
  } catch {
    return { last_success: null, last_failure: null };
  }
}

/** Writes down how a backup went. Never throws: what is told here is told elsewhere too. */
export function noteBackup(dataDir: string, change: Partial<LastBackups>): void {
  const path = lastPath(dataDir);
  try {
    makeBackupsFolder(dataDir);
    const text = `${JSON.stringify({ ...readLastBackups(dataDir), ...change })}\n`;
    writeFileSync(`${path}.${process.pid}`, text, { mode: 0o600 });
    giveToOwner(`${path}.${process.pid}`, dataDir);
    renameSync(`${path}.${process.pid}`, path);
  } catch {
    // A full disk keeps it from being written down, and is what the backup's own error says.
  }
}

function lastPath(dataDir: string): string {
  return join(backupsFolder(dataDir), "last.json");
}

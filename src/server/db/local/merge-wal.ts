import { rmSync, statSync } from "node:fs";
import { unavailable } from "../../errors.ts";
import { FileDatabase } from "./file-database.ts";
import { loadLibsql } from "./load-libsql.ts";

/** Checkpoints the WAL, so that the database is a single file. Nobody else may have it open. Errors: unavailable. */
export async function mergeWal(path: string): Promise<void> {
  if (!hasWal(path)) return removeWal(path);
  const db = new FileDatabase(await loadLibsql(), path);
  try {
    if (!(await db.checkpoint()) || hasWal(path)) {
      throw unavailable(`The WAL of ${path} cannot be emptied: another program uses the database. Stop that program.`);
    }
  } finally {
    await db.close();
  }
  removeWal(path);
}

/** Whether a database has a WAL that is not empty. */
export function hasWal(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Removes a WAL and its index. SQLite would apply them to another database file that gets this name. */
export function removeWal(path: string): void {
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

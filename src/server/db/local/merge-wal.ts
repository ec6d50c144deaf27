import { rmSync, statSync } from "node:fs";
import { unavailable } from "../../errors.ts";
import { loadLibsql } from "./load-libsql.ts";
import { LocalClient } from "./local-client.ts";

/**
 * Moves the log of a database file into it, so that the one file is all of it. Nobody else may have it open.
 * @throws unavailable when something keeps the log from being emptied, or the file is damaged.
 */
export async function foldLog(path: string): Promise<void> {
  if (!holdsLog(path)) return removeLog(path);
  const client = new LocalClient(await loadLibsql(), path);
  try {
    if (!(await client.checkpoint()) || holdsLog(path)) {
      throw unavailable("The database's log cannot be emptied: something still reads it.");
    }
  } finally {
    client.close();
  }
  removeLog(path);
}

/** Whether there is a log with something in it. */
export function holdsLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Removes a log together with its index; beside another file of that name SQLite would write it into that. */
export function removeLog(path: string): void {
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

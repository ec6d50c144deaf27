import { closeSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { AppError, unavailable } from "../../errors.ts";
import { Connection } from "./connection.ts";
import { FileLock } from "./file-lock.ts";
import { loadLibsql } from "./load-libsql.ts";
import { shareFile } from "./open-file-lock.ts";
import { syncFile } from "./sync-file.ts";

/** Backs the file up to `<data-dir>/backups/before-<name>-<time>.db`, and returns that path. */
export async function backUpBefore(path: string, name: string, now: Date): Promise<string> {
  const dir = join(dirname(path), "backups");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const target = join(dir, `before-${name}-${time}.db`);
  await copyDatabase(path, target);
  return target;
}

/**
 * Copies the database file while others read and write; blocks the process meanwhile. The copy gets its name only when
 * it is complete and on disk. Errors: unavailable for a full or faulty disk.
 */
export async function copyDatabase(path: string, target: string): Promise<void> {
  const libsql = await loadLibsql();
  const users = await shareFile(path);
  const lock = new FileLock(libsql, `${path}-readers`);
  while (!lock.tryShared()) await Bun.sleep(10);
  const connection = new Connection(libsql, path, { busyTimeoutMs: 5000 });
  const partial = `${target}.partial`;
  rmSync(partial, { force: true });
  try {
    closeSync(openSync(partial, "w", 0o600));
    connection.run("VACUUM INTO ?", [partial]);
    // VACUUM INTO does not sync the file.
    syncFile(partial);
    renameSync(partial, target);
    syncFile(dirname(target));
  } catch (error) {
    rmSync(partial, { force: true });
    throw error instanceof AppError ? error : unavailable("The backup cannot be written.", { cause: error });
  } finally {
    connection.close();
    lock.close();
    users.close();
  }
}

import { statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Connection } from "../../db/local/connection.ts";
import { FileLock } from "../../db/local/file-lock.ts";
import { loadLibsql } from "../../db/local/load-libsql.ts";
import { mergeWal } from "../../db/local/merge-wal.ts";
import { lockShared } from "../../db/local/open-file-lock.ts";
import { unavailable } from "../../errors.ts";
import { createPacer, type Pacer } from "../../object-store/folder-storage.ts";
import { MiB } from "../../values/units.ts";
import type { CopyOptions } from "./tables.ts";

const chunkBytes = 1 << 20;
/** If the WAL grows by this, the copy stops, so that the WAL can be emptied. Later attempts copy without pauses. */
const maxGrowth = 24 * MiB;
const maxAttempts = 6;
/** A copy starts once the WAL is at most this large, or after `maxWaitMs`. */
const smallWalBytes = 16 * MiB;
const maxWaitMs = 5000;

/**
 * Copies a database file, then its WAL, while others write. A read transaction keeps the WAL from being reset. `VACUUM
 * INTO` would write as fast as it can, and delay the server's commits.
 * @throws unavailable for a full or faulty disk, or if others write more than can be copied.
 */
export async function copyLive(path: string, target: string, options: Required<CopyOptions>): Promise<void> {
  const users = await lockShared(path);
  const readers = new FileLock(await loadLibsql(), `${path}-readers`);
  // Stays open during all attempts, because closing any descriptor of a file drops all locks of this process on it.
  const source = await open(path, "r");
  try {
    let attempt = 1;
    while (!(await copyOnce(path, target, { ...options, source, readers, isHurried: attempt > 1 }))) {
      if (attempt++ === maxAttempts) throw unavailable("The database is written to faster than it can be copied.");
    }
  } finally {
    await source.close();
    readers.close();
    users.close();
  }
  await mergeWal(target);
}

/** Returns false if the copy stopped because the WAL grew too much. */
async function copyOnce(
  path: string,
  target: string,
  attempt: Required<CopyOptions> & { source: FileHandle; readers: FileLock; isHurried: boolean },
): Promise<boolean> {
  const { source, readers, isHurried, onProgress, signal } = attempt;
  const walSize = () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const deadline = performance.now() + maxWaitMs;
  while (walSize() > smallWalBytes && performance.now() < deadline) await Bun.sleep(20);
  while (!readers.tryShared()) await Bun.sleep(10);
  const connection = new Connection(await loadLibsql(), path, { readOnly: true });
  const pacer = isHurried ? undefined : createPacer(signal);
  try {
    // A read transaction stays open during the copy, because it keeps other processes from resetting the WAL.
    connection.run("BEGIN");
    connection.run("SELECT 1 FROM sqlite_schema LIMIT 1");
    await using wal = await open(`${path}-wal`, "r").catch(() => undefined);
    const largest = walSize() + maxGrowth;
    const total = (await source.stat()).size + walSize();
    const progress = (done: number) => {
      signal.throwIfAborted();
      onProgress(done, total);
      return walSize() <= largest;
    };
    const copied = await copyBytes(source, target, pacer, progress);
    if (copied === undefined || !wal) return copied !== undefined;
    const last = await copyBytes(wal, `${target}-wal`, pacer, (done) => progress(copied + done));
    return last !== undefined;
  } finally {
    connection.close();
    readers.release();
  }
}

/** Copies a file up to its present size and returns that size; undefined if `onProgress` returns false. */
async function copyBytes(
  source: FileHandle,
  target: string,
  pacer: Pacer | undefined,
  onProgress: (done: number) => boolean,
): Promise<number | undefined> {
  const { size } = await source.stat();
  await using copy = await open(target, "w", 0o600);
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let at = 0;
  while (at < size) {
    const { bytesRead } = await source.read(chunk, 0, Math.min(chunkBytes, size - at), at);
    if (bytesRead === 0) break;
    await copy.write(chunk, 0, bytesRead, at);
    at += bytesRead;
    await pacer?.wrote(bytesRead, () => copy.datasync());
    if (!onProgress(at)) return undefined;
  }
  await copy.sync();
  return at;
}

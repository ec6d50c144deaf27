import { type FileHandle, open } from "node:fs/promises";
import { Connection } from "../../db/local/connection.ts";
import { FileLock } from "../../db/local/file-lock.ts";
import { loadLibsql } from "../../db/local/load-libsql.ts";
import { mergeWal } from "../../db/local/merge-wal.ts";
import { shareFile } from "../../db/local/open-file-lock.ts";
import type { CopyOptions } from "./dump.ts";
import { createPacer, type Pacer } from "./pace.ts";

const chunkBytes = 1 << 20;

/**
 * Copies a database file while others write: first the file, then its WAL. Nobody resets the WAL meanwhile, so that pages
 * checkpointed in between are in the WAL as well; the copy is the database as of the last commit in the WAL. `VACUUM INTO`
 * would write as fast as it can, and a server's commits would wait for the disk.
 * @param target a path that does not exist.
 * @throws unavailable for a full or faulty disk.
 */
export async function copyLive(path: string, target: string, { onProgress, signal }: Required<CopyOptions>) {
  const users = await shareFile(path);
  const libsql = await loadLibsql();
  const readers = new FileLock(libsql, `${path}-readers`);
  // Closed last: closing any descriptor of the file drops this process's locks on it.
  const source = await open(path, "r");
  try {
    while (!readers.tryShared()) await Bun.sleep(10);
    const connection = new Connection(libsql, path, { readOnly: true });
    const pacer = createPacer(signal);
    try {
      // While a read transaction is open, no process resets the WAL.
      connection.run("BEGIN");
      connection.run("SELECT 1 FROM sqlite_schema LIMIT 1");
      const wal = await open(`${path}-wal`, "r").catch(() => undefined);
      try {
        const total = (await source.stat()).size + ((await wal?.stat())?.size ?? 0);
        const copied = await copyBytes(source, target, pacer, (done) => onProgress(done, total));
        if (wal) await copyBytes(wal, `${target}-wal`, pacer, (done) => onProgress(copied + done, total));
      } finally {
        await wal?.close();
      }
    } finally {
      connection.close();
    }
  } finally {
    await source.close();
    readers.close();
    users.close();
  }
  await mergeWal(target);
}

/** Copies the present size of a file; returns it. */
async function copyBytes(source: FileHandle, target: string, pacer: Pacer, onProgress: (done: number) => void) {
  const { size } = await source.stat();
  const copy = await open(target, "wx", 0o600);
  const chunk = Buffer.allocUnsafe(chunkBytes);
  try {
    let at = 0;
    while (at < size) {
      const { bytesRead } = await source.read(chunk, 0, Math.min(chunkBytes, size - at), at);
      if (bytesRead === 0) break;
      await copy.write(chunk, 0, bytesRead, at);
      at += bytesRead;
      await pacer.wrote(bytesRead, () => copy.datasync());
      onProgress(at);
    }
    await copy.sync();
    return at;
  } finally {
    await copy.close();
  }
}

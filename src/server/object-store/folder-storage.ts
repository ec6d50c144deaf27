import { createReadStream, realpathSync, renameSync, statSync } from "node:fs";
import { type FileHandle, link, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { Writable } from "node:stream";
import { chownLike } from "../config/data-dir.ts";
import { syncFile } from "../db/local/sync-file.ts";
import { absent, type BackupUpload, type ObjectStorage } from "./storage.ts";

/** The beginning of an archive: enough for its manifest, compressed. */
export const headBytes = 64 * 1024;

/** Backups within `dataDir` get the owner of `dataDir`, so that a server of that account can read and remove them. */
export function openFolder(folder: string, dataDir?: string): ObjectStorage {
  const write = async (name: string, bytes: Uint8Array) => {
    const partial = join(folder, `.${name}.partial`);
    await using file = await open(partial, "w", 0o600);
    await file.writeFile(bytes);
    await file.sync();
    return partial;
  };
  return {
    async put(name, bytes) {
      await rename(await write(name, bytes), join(folder, name));
      await syncFolder(folder);
    },
    async create(name, bytes) {
      // Only `create` makes the directory. If `put` finds no directory, its disk may not be mounted, so `put` fails.
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const partial = await write(name, bytes);
      try {
        await link(partial, join(folder, name));
        await syncFolder(folder);
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
        throw error;
      } finally {
        await rm(partial, { force: true });
      }
    },
    async upload(name, id, signal) {
      const first = await mkdir(folder, { recursive: true, mode: 0o700 });
      const isOwned = dataDir !== undefined && `${realpathSync(folder)}${sep}`.startsWith(realpathSync(dataDir) + sep);
      if (isOwned && first !== undefined) {
        for (let one = folder; one.length >= first.length; one = dirname(one)) chownLike(one, dataDir);
      }
      const partial = join(folder, `.bodega-backup-${id}.partial`);
      // The file is opened first, so that a missing permission is reported before the database is copied.
      const file = await open(partial, "w", 0o600);
      if (isOwned) chownLike(partial, dataDir);
      return uploadTo(file, partial, join(folder, name), signal);
    },
    // This call is asynchronous, because a network folder can hang, which must not block the process.
    has: (name) => stat(join(folder, name)).then(Boolean, () => false),
    async get(name, checkSize) {
      const path = join(folder, name);
      const found = await stat(path).catch((error) => absent(error, "ENOENT"));
      if (found === undefined) return undefined;
      checkSize?.(found.size);
      return readFile(path).catch((error) => absent(error, "ENOENT"));
    },
    async list(prefix, after = "") {
      const names = (await readdir(folder).catch((error) => absent(error, "ENOENT"))) ?? [];
      return names.filter((name) => name.startsWith(prefix) && name > after).sort();
    },
    async head(name) {
      await using file = await open(join(folder, name));
      const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
      return buffer.subarray(0, bytesRead);
    },
    async read(name) {
      const path = join(folder, name);
      return { bytes: (await stat(path)).size, stream: createReadStream(path) };
    },
    remove: (name) => rm(join(folder, name), { force: true }),
  };
}

function uploadTo(file: FileHandle, partial: string, path: string, signal: AbortSignal): BackupUpload {
  const pacer = createPacer(signal);
  const sink = new Writable({
    highWaterMark: 1 << 20,
    write(chunk: Buffer, _encoding, done) {
      const write = async () => {
        await file.writeFile(chunk);
        await pacer.wrote(chunk.length, () => file.datasync());
      };
      write().then(() => done(), done);
    },
  });
  return {
    sink,
    async finish() {
      await file.sync();
      await file.close();
      renameSync(partial, path);
      syncFile(dirname(path));
      return statSync(path).size;
    },
    async discard() {
      sink.destroy();
      await file.close().catch(() => {});
      await rm(partial, { force: true });
    },
  };
}

async function syncFolder(folder: string): Promise<void> {
  await using entries = await open(folder, "r").catch(() => open(dirname(folder), "r"));
  await entries.sync();
}

export type Pacer = ReturnType<typeof createPacer>;

/** A file is flushed after this many bytes. A commit that waits for such a flush is hardly slower. */
const batchBytes = 1 << 20;
const pauseRatio = 3;
const minPauseMs = 5;
const maxPauseMs = 50;

/** Flushes a file and pauses after each batch, because commits would wait while hundreds of megabytes are flushed. */
export function createPacer(signal: AbortSignal) {
  let waiting = 0;
  let startedAt = performance.now();
  return {
    async wrote(bytes: number, sync: () => Promise<void>) {
      waiting += bytes;
      signal.throwIfAborted();
      if (waiting < batchBytes) return;
      await sync();
      const tookMs = performance.now() - startedAt;
      await Bun.sleep(Math.min(maxPauseMs, Math.max(minPauseMs, tookMs * pauseRatio)));
      waiting = 0;
      startedAt = performance.now();
    },
  };
}

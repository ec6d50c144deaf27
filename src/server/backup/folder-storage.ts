import { createReadStream, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { Writable } from "node:stream";
import { giveToOwner } from "../config/data-dir.ts";
import { syncFile } from "../db/local/sync-file.ts";
import { createPacer } from "./copy/pace.ts";
import { isBackupName } from "./location.ts";
import type { BackupStorage, BackupUpload } from "./storage.ts";

/** After this time an unfinished file belongs to a process that was killed. */
const staleMs = 24 * 3_600_000;
const partialForm = /^\.bodega-backup-[0-9a-f]+\.partial$/;
/** The beginning of an archive: enough for its manifest, compressed. */
export const headBytes = 64 * 1024;

/** Where an archive is written before it gets its name. */
export function partialPath(folder: string, id: string): string {
  return join(folder, `.bodega-backup-${id}.partial`);
}

/**
 * Stores backups as files of a directory, which the first one creates.
 * @param dataDir whose owner gets the files made within it, so that a server of that account can read and remove them.
 */
export function openFolder(folder: string, dataDir?: string): BackupStorage {
  return {
    async create(name, id, signal) {
      const first = await mkdir(folder, { recursive: true, mode: 0o700 });
      const isOwned = dataDir !== undefined && `${realpathSync(folder)}${sep}`.startsWith(realpathSync(dataDir) + sep);
      if (isOwned && first !== undefined) {
        for (let one = folder; one.length >= first.length; one = dirname(one)) giveToOwner(one, dataDir);
      }
      await removeStale(folder);
      const partial = partialPath(folder, id);
      // Opened now, so that a missing permission is reported before the database is copied.
      const file = await open(partial, "wx", 0o600);
      if (isOwned) giveToOwner(partial, dataDir);
      return upload(file, partial, join(folder, name), signal);
    },
    async list() {
      const names = await readdir(folder).catch((error) => {
        if (error.code === "ENOENT") return [];
        throw error;
      });
      return names.filter(isBackupName).sort();
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

function upload(file: FileHandle, partial: string, path: string, signal: AbortSignal): BackupUpload {
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

async function removeStale(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!partialForm.test(name)) continue;
    const path = join(folder, name);
    const madeAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - madeAt > staleMs) rmSync(path, { force: true });
  }
}

import { createReadStream, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { Writable } from "node:stream";
import { giveToOwner } from "../../config/data-dir.ts";
import { syncFile } from "../../db/local/sync-file.ts";
import { notFound } from "../../errors.ts";
import { createPacer } from "../copy/pace.ts";
import { readBackupTime } from "./names.ts";
import { noBackupRemedy, placeError } from "./place.ts";
import { type BackupStore, headBytes } from "./store.ts";

/** What a process that was killed has left is taken away once it is this old. */
const staleMs = 24 * 3_600_000;
const partialForm = /^\.bodega-backup-[0-9a-f]+\.partial$/;

/** Where a container is written before it has its name. */
export function partialPath(folder: string, id: string): string {
  return join(folder, `.bodega-backup-${id}.partial`);
}

/**
 * Backups as files of a folder; it is made when the first one is.
 * @param dataDir whose owner gets what is made within it, so that a server under that account can read and remove it.
 */
export function openFolder(folder: string, dataDir?: string): BackupStore {
  const attempt = async <T>(what: string, name: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw placeError(error, join(folder, name), what);
    }
  };
  return {
    create: (name, id, signal) =>
      attempt("The backup cannot be written to", "", async () => {
        const first = await mkdir(folder, { recursive: true, mode: 0o700 });
        const isOwned = dataDir !== undefined && isWithin(folder, dataDir);
        if (isOwned && first !== undefined) giveFolders(first, folder, dataDir);
        await removeStale(folder);
        const partial = partialPath(folder, id);
        // Opened at once: whoever may not write here hears of it before the database is copied.
        const file = await open(partial, "wx", 0o600);
        if (isOwned) giveToOwner(partial, dataDir);
        const sink = paceInto(file, signal);
        return {
          sink,
          finish: () =>
            attempt("The backup cannot be written to", name, async () => {
              await file.sync();
              await file.close();
              renameSync(partial, join(folder, name));
              syncFile(folder);
              return statSync(join(folder, name)).size;
            }),
          async discard() {
            sink.destroy();
            await file.close().catch(() => {});
            await rm(partial, { force: true });
          },
        };
      }),
    list: () =>
      attempt("The backups cannot be listed in", "", async () => {
        const names = await readdir(folder).catch((error) => {
          if (error.code === "ENOENT") return [];
          throw error;
        });
        return names.filter((name) => readBackupTime(name) !== undefined).sort();
      }),
    head: (name) =>
      attempt("The backup cannot be read from", name, async () => {
        const file = await open(join(folder, name));
        try {
          const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
          return buffer.subarray(0, bytesRead);
        } finally {
          await file.close();
        }
      }),
    read: (name) =>
      attempt("The backup cannot be read from", name, async () => {
        const path = join(folder, name);
        const found = await stat(path).catch(() => undefined);
        if (!found) throw notFound("backup", path, { remedy: noBackupRemedy });
        return { stream: createReadStream(path), bytes: found.size };
      }),
    remove: (name) => attempt("The old backup cannot be removed:", name, () => rm(join(folder, name), { force: true })),
  };
}

function isWithin(folder: string, dataDir: string): boolean {
  return `${realpathSync(folder)}${sep}`.startsWith(`${realpathSync(dataDir)}${sep}`);
}

/** From the innermost to the first that was not there. */
function giveFolders(first: string, folder: string, dataDir: string): void {
  for (let one = folder; one.length >= first.length; one = dirname(one)) giveToOwner(one, dataDir);
}

function paceInto(file: FileHandle, signal: AbortSignal): Writable {
  const pacer = createPacer(signal);
  return new Writable({
    highWaterMark: 1 << 20,
    write(chunk: Buffer, _encoding, done) {
      const write = async () => {
        await file.writeFile(chunk);
        await pacer.wrote(chunk.length, () => file.datasync());
      };
      write().then(() => done(), done);
    },
  });
}

async function removeStale(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!partialForm.test(name)) continue;
    const path = join(folder, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > staleMs) rmSync(path, { force: true });
  }
}

import { randomBytes } from "node:crypto";
import { closeSync, constants, ftruncateSync, openSync, statfsSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { chownLike } from "../../config/data-dir.ts";
import { attempt } from "../../values/attempt.ts";
import { MiB } from "../../values/units.ts";

/** The intended size of the file. The database may grow by this much while the WAL is emptied. */
const wantedBytes = 16 * MiB;
/** On a small disk, the file takes at most this share of the free space. */
const maxShare = 1 / 4;
const chunkBytes = 64 * 1024;
/** A running server shrinks the file to this size, not to 0: its next start needs the space for the WAL's index. */
const startBytes = MiB;

/**
 * A file beside the database that reserves disk space. Emptying the WAL can enlarge the database. Without this reserve,
 * a server on a full disk could not write until somebody frees space.
 */
export class BallastFile {
  readonly path: string;

  constructor(databasePath: string) {
    this.path = `${databasePath}-reserve`;
  }

  get bytes(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  get spareBytes(): number {
    return Math.max(0, this.bytes - startBytes);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(dirname(this.path));
    return bavail * bsize;
  }

  /** Grows the file to its intended size. Throws errors of the disk; bytes that were written stay. */
  async fill(): Promise<void> {
    const held = this.bytes;
    const target = Math.min(wantedBytes, (this.freeBytes + held) * maxShare);
    // A file that has nine tenths of its intended size is not enlarged.
    if (held > target * 0.9) return;
    let file: FileHandle | undefined;
    try {
      const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
      file = await open(this.path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
      if (held === 0) chownLike(this.path, dirname(this.path));
      // The bytes are random, because some file systems do not allocate space for zeros.
      const chunk = randomBytes(chunkBytes);
      for (let at = held; at < target; at += chunk.length) await file.write(chunk);
    } finally {
      await file?.close();
    }
  }

  /** Frees all but the part for the next start. Returns false if there was nothing to free. */
  release(): boolean {
    return this.spareBytes > 0 && this.#shrinkTo(startBytes);
  }

  /** On a full disk, frees half of the file before a server opens the database, and keeps the rest for later starts. */
  makeRoomToStart(): void {
    if (this.freeBytes < startBytes) this.#shrinkTo(Math.floor(this.bytes / 2));
  }

  #shrinkTo(bytes: number): boolean {
    const file = attempt(() => openSync(this.path, constants.O_WRONLY | constants.O_NOFOLLOW));
    if (file === undefined) return false;
    ftruncateSync(file, bytes);
    closeSync(file);
    return true;
  }
}

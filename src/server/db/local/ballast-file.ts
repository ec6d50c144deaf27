import { randomBytes } from "node:crypto";
import { closeSync, constants, ftruncateSync, openSync, statfsSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { chownLike } from "../../config/data-dir.ts";
import { attempt } from "../../values/attempt.ts";
import { MiB } from "../../values/bytes.ts";

/** The WAL is emptied at a quarter of this, or all of it while writes wait; so much the database may grow by then. */
const wantedBytes = 16 * MiB;
/** On a small disk, the part of the free space that is held. */
const maxShare = 1 / 4;
const chunkBytes = 64 * 1024;
/** The part that a running server keeps: the next start needs some of it for the index of the WAL. */
const startBytes = MiB;

/**
 * A file beside the database that holds room on its disk. Emptying the WAL lets the database grow, so on a full disk a
 * server could otherwise write nothing until somebody finds it.
 */
export class BallastFile {
  readonly path: string;

  constructor(databasePath: string) {
    this.path = `${databasePath}-reserve`;
  }

  get bytes(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Bytes that `release` would free. */
  get spareBytes(): number {
    return Math.max(0, this.bytes - startBytes);
  }

  /** Bytes that are free on the disk, without those of the file. */
  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(dirname(this.path));
    return bavail * bsize;
  }

  /** Writes what the file lacks. Errors are those of the disk; what is written stays. */
  async fill(): Promise<void> {
    const held = this.bytes;
    const target = Math.min(wantedBytes, (this.freeBytes + held) * maxShare);
    // Not for a few bytes that others have taken meanwhile.
    if (held > target * 0.9) return;
    let file: FileHandle | undefined;
    try {
      const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
      file = await open(this.path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
      if (held === 0) chownLike(this.path, dirname(this.path));
      // Random, because some file systems give no room to zeros.
      const chunk = randomBytes(chunkBytes);
      for (let at = held; at < target; at += chunk.length) await file.write(chunk);
    } finally {
      await file?.close();
    }
  }

  /** Gives up all but the part for the next start; false where there was no more. */
  release(): boolean {
    return this.spareBytes > 0 && this.#shrinkTo(startBytes);
  }

  /** On a full disk, gives up half of the file before a server opens the database. The rest is for later starts. */
  makeRoomToStart(): void {
    if (this.freeBytes < startBytes) this.#shrinkTo(Math.floor(this.bytes / 2));
  }

  /** Returns false if the file cannot be changed. */
  #shrinkTo(bytes: number): boolean {
    const file = attempt(() => openSync(this.path, constants.O_WRONLY | constants.O_NOFOLLOW));
    if (file === undefined) return false;
    ftruncateSync(file, bytes);
    closeSync(file);
    return true;
  }
}

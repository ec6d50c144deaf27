import type { Readable, Writable } from "node:stream";

/** A backup on its way. */
export interface BackupUpload {
  /** Takes the container's bytes. */
  sink: Writable;
  /** Makes the whole container appear under its name; answers its size in bytes. */
  finish(): Promise<number>;
  /** Leaves nothing of it. */
  discard(): Promise<void>;
}

/** What keeps backups. Errors of all: unavailable that say what cannot be reached, read or written. */
export interface BackupStore {
  /** @param id tells apart what several processes leave unfinished. */
  create(name: string, id: string, signal: AbortSignal): Promise<BackupUpload>;
  /** Names of what may be backups, oldest first. */
  list(): Promise<string[]>;
  /** The beginning of a container, long enough for its manifest. */
  head(name: string): Promise<Uint8Array>;
  /** @throws notFound where there is none of that name. */
  read(name: string): Promise<{ stream: Readable; bytes: number }>;
  remove(name: string): Promise<void>;
}

/** Bytes of a container within which its manifest stands, compressed. */
export const headBytes = 64 * 1024;

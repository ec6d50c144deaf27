import type { Readable, Writable } from "node:stream";
import { AppError, unavailable } from "../errors.ts";
import { formatBytes } from "../values/bytes.ts";
import { foreignObject } from "./manifest.ts";

export interface BackupUpload {
  sink: Writable;
  /** Makes the whole archive appear under its name, and returns its size in bytes. */
  finish(): Promise<number>;
  discard(): Promise<void>;
}

export interface ObjectStorage {
  address: string;
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Writes an object unless its name is taken, and then returns false. */
  create(name: string, bytes: Uint8Array): Promise<boolean>;
  /** Starts a large object. `id` distinguishes the unfinished files of several processes. */
  upload(name: string, id: string, signal: AbortSignal): Promise<BackupUpload>;
  has(name: string): Promise<boolean>;
  /** Returns undefined for a missing object. @throws validationFailed for more than `maxBytes`. */
  get(name: string, maxBytes?: number): Promise<Uint8Array | undefined>;
  /** Reads the first bytes of a backup, which contain its manifest. */
  head(name: string): Promise<Uint8Array>;
  read(name: string): Promise<{ stream: Readable; bytes: number }>;
  /** Lists the names that begin with `prefix` and sort after `after`, in order. */
  list(prefix: string, after?: string): Promise<string[]>;
  remove(name: string): Promise<void>;
}

const reasons: Record<string, string> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is exceeded",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is mounted read-only",
  ENOTDIR: "a part of the path is not a directory",
  ENOENT: "it does not exist",
  EEXIST: "a part of the path is not a directory",
  EPIPE: "the reader has closed the pipe",
  EISDIR: "it is a directory",
  NoSuchKey: "it does not exist",
  NoSuchBucket: "the bucket does not exist",
  AccessDenied: "the account lacks permission (AccessDenied)",
  InvalidAccessKeyId: "the access key is unknown (InvalidAccessKeyId)",
  SignatureDoesNotMatch: "the secret access key is wrong (SignatureDoesNotMatch)",
  ConnectionRefused: "the S3 server cannot be reached",
  FailedToOpenSocket: "the S3 server cannot be reached",
};

const remedies: Record<string, string> = {
  ENOSPC: "Free space on this disk.",
  EDQUOT: "Delete files of this account.",
  EROFS: "Mount the disk read-write.",
  EACCES: "Run the command as the account that owns the directory.",
};

/** Returns unknown errors unchanged. The message of S3 may name the account, so it is left out. */
export function storageError(error: unknown, place: string, what: string): unknown {
  if (error instanceof AppError) return error;
  const code = String((error as { code?: unknown }).code ?? "unknown");
  return unavailable(`${what} ${place}: ${reasons[code] ?? code}.`, { cause: error, remedy: remedies[code] });
}

export function requireSize(name: string, bytes: number, maxBytes = Number.POSITIVE_INFINITY): void {
  if (bytes > maxBytes) throw foreignObject(`${name} has ${formatBytes(bytes)}, more than Bodega writes`);
}

/** Returns undefined for an error with this code, and throws others. */
export function absent(error: unknown, code: string): undefined {
  if (String((error as { code?: unknown }).code) !== code) throw error;
  return undefined;
}

/** Calls `onSilence` when a watched step makes no progress for `maxMs`. */
export function createWatchdog(maxMs: number, onSilence: () => void) {
  let timer = setTimeout(onSilence, maxMs);
  return {
    progress(isWatched = true) {
      clearTimeout(timer);
      if (isWatched) timer = setTimeout(onSilence, maxMs);
    },
    stop: () => clearTimeout(timer),
  };
}

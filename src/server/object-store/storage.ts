import type { Readable, Writable } from "node:stream";
import { AppError, errnoOf, unavailable } from "../errors.ts";

export interface BackupUpload {
  sink: Writable;
  /** Makes the whole archive appear under its name, and returns its size in bytes. */
  finish(): Promise<number>;
  discard(): Promise<void>;
}

export interface ObjectStorage {
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Writes an object and returns true. If the name is taken, returns false and writes nothing. */
  create(name: string, bytes: Uint8Array): Promise<boolean>;
  /** Starts a large object. `id` distinguishes the unfinished files of several processes. */
  upload(name: string, id: string, signal: AbortSignal): Promise<BackupUpload>;
  has(name: string): Promise<boolean>;
  /** Returns undefined for a missing object. `checkSize` is called before the bytes are read; its error is thrown. */
  get(name: string, checkSize?: (bytes: number) => void): Promise<Uint8Array | undefined>;
  head(name: string): Promise<Uint8Array>;
  read(name: string): Promise<{ stream: Readable; bytes: number }>;
  /** Lists the names that begin with `prefix` and sort after `after`, in order. */
  list(prefix: string, after?: string): Promise<string[]>;
  remove(name: string): Promise<void>;
}

/** The reason and the remedy for each error code of a disk or of S3. */
const reasons: Record<string, readonly [reason: string, remedy?: string]> = {
  ENOSPC: ["the disk is full", "Free space on this disk."],
  EDQUOT: ["the disk quota is exceeded", "Delete files of this account."],
  EACCES: ["permission denied", "Run the command as the account that owns the directory."],
  EPERM: ["permission denied"],
  EROFS: ["the disk is mounted read-only", "Mount the disk read-write."],
  ENOTDIR: ["a part of the path is not a directory"],
  ENOENT: ["it does not exist"],
  EEXIST: ["a part of the path is not a directory"],
  EISDIR: ["it is a directory"],
  NoSuchKey: ["it does not exist"],
  NoSuchBucket: ["the bucket does not exist"],
  AccessDenied: ["the account lacks permission (AccessDenied)"],
  InvalidAccessKeyId: ["the access key is unknown (InvalidAccessKeyId)"],
  SignatureDoesNotMatch: ["the secret access key is wrong (SignatureDoesNotMatch)"],
  ConnectionRefused: ["the S3 server cannot be reached"],
  FailedToOpenSocket: ["the S3 server cannot be reached"],
};

/** Explains an error of a disk or S3; others stay unchanged. Omits the message of S3, which may name the account. */
export function storageError(error: unknown, place: string, what: string): unknown {
  if (error instanceof AppError) return error;
  const code = errnoOf(error);
  const [reason, remedy] = reasons[code] ?? [code];
  return unavailable(`${what} ${place}: ${reason}.`, { cause: error, remedy });
}

/** Returns undefined for an error with this code, and throws others. */
export function absent(error: unknown, code: string): undefined {
  if (errnoOf(error) !== code) throw error;
  return undefined;
}

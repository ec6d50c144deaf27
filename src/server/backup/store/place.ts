import { mkdirSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { backupDestination } from "../../config/backup-config.ts";
import { giveToOwner } from "../../config/data-dir.ts";
import { invalidOption } from "../../config/environment.ts";
import { AppError, notFound, unavailable } from "../../errors.ts";
import { backupEnding } from "./names.ts";

/** Where a backup goes to or comes from. `name` undefined: each backup gets a name of its own there. */
export type BackupPlace =
  | { kind: "stdout" }
  | { kind: "folder"; path: string; name: string | undefined }
  | { kind: "s3"; bucket: string; prefix: string; name: string | undefined };

/** What to do about a backup that is not there. */
export const noBackupRemedy = "Check its name and place.";

/** The folder of backups in a data directory. */
export function backupsFolder(dataDir: string): string {
  return join(dataDir, "backups");
}

/** Makes it where it is not there; only its owner sees what is in it. */
export function makeBackupsFolder(dataDir: string): string {
  const folder = backupsFolder(dataDir);
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) giveToOwner(folder, dataDir);
  return folder;
}

/** Where a backup of that id copies the database to, before it is packed. */
export function stagingFolder(dataDir: string, id: string): string {
  return join(backupsFolder(dataDir), `.staging-${id}`);
}

/**
 * Reads a place: `-`, a folder, a file that ends in `.tar.gz`, `s3://bucket/prefix`, or an object of that ending.
 * @param source what to call it when it is at fault.
 * @throws validationFailed for what is none.
 */
export function readPlace(given: string, source: string): BackupPlace {
  if (given === "-") return { kind: "stdout" };
  if (given === "") throw invalidOption(source, "must not be empty");
  const place = backupDestination({ value: given, source }) as string;
  if (place.startsWith("s3:")) return readS3Place(place);
  const found = lookAt(place);
  if (found?.isDirectory()) return { kind: "folder", path: place, name: undefined };
  if (isContainerName(place)) return { kind: "folder", path: dirname(place), name: basename(place) };
  if (found !== undefined) throw invalidOption(source, `must be a folder, or a file that ends in ${backupEnding}`);
  return { kind: "folder", path: resolve(place), name: undefined };
}

/**
 * Reads what a backup comes from: `-`, any file, or an S3 object.
 * @throws validationFailed for what is none; notFound where there is no such file.
 */
export function readSource(given: string, source: string): BackupPlace {
  if (given === "-" || given.startsWith("s3:")) return readPlace(given, source);
  const path = resolve(given);
  const found = lookAt(path);
  if (found === undefined) throw notFound("backup", path, { remedy: noBackupRemedy });
  if (found.isDirectory()) return { kind: "folder", path, name: undefined };
  return { kind: "folder", path: dirname(path), name: basename(path) };
}

/** What stands there; undefined also where that cannot be seen, which whoever uses the path then says. */
function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The bucket and key of `s3://bucket/prefix/name.tar.gz`. */
export function readS3Place(address: string): Extract<BackupPlace, { kind: "s3" }> {
  const [, bucket = "", path = ""] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(address) ?? [];
  if (!isContainerName(path))
    return { kind: "s3", bucket, prefix: path.replace(/\/*$/, "").replace(/.$/, "$&/"), name: undefined };
  const start = path.lastIndexOf("/") + 1;
  return { kind: "s3", bucket, prefix: path.slice(0, start), name: path.slice(start) };
}

/** A place for people: without a name of its own, the folder. */
export function formatPlace(place: BackupPlace, name = ""): string {
  switch (place.kind) {
    case "stdout":
      return "-";
    case "folder":
      return join(place.path, place.name ?? name);
    case "s3":
      return `s3://${place.bucket}/${place.prefix}${place.name ?? name}`;
  }
}

/** A disk, folder or file that cannot be used, as what a person can act on. Errors of ours stay as they are. */
export function placeError(error: unknown, place: string, what: string): unknown {
  if (error instanceof AppError) return error;
  const code = (error as NodeJS.ErrnoException).code ?? "unknown";
  const reasons: Record<string, string> = {
    ENOSPC: "the disk is full",
    EDQUOT: "the disk's quota is used up",
    EACCES: "this account may not write there",
    EPERM: "this account may not write there",
    EROFS: "the disk is mounted read-only",
    ENOTDIR: "a part of the path is no folder",
    ENOENT: "it does not exist",
    EEXIST: "a part of the path is no folder",
    EPIPE: "its reader has gone",
    EISDIR: "it is a folder",
  };
  return unavailable(`${what} ${place}: ${reasons[code] ?? code}.`, { cause: error });
}

function isContainerName(path: string): boolean {
  return path.endsWith(backupEnding) || path.endsWith(".tgz");
}

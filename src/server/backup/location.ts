import { mkdirSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { backupDestination } from "../config/backup-config.ts";
import type { Config } from "../config/config.ts";
import { giveToOwner } from "../config/data-dir.ts";
import { invalidOption } from "../config/environment.ts";
import { notFound } from "../errors.ts";

/** Where a backup goes or comes from. Without a `name` it is a folder of backups, each with a name of its own. */
export type BackupLocation =
  | { kind: "stdout" }
  | { kind: "folder"; path: string; name: string | undefined }
  | { kind: "s3"; bucket: string; prefix: string; name: string | undefined };

const ending = ".tar.gz";
const nameForm = /^bodega-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)\.(\d{3})Z\.tar\.gz$/;

/** The name of a backup made at a time: `bodega-20261121T104512.345Z.tar.gz`. Names sort by age. */
export function makeBackupName(now: Date): string {
  return `bodega-${now.toISOString().replace(/[-:]/g, "")}${ending}`;
}

/** Whether a file or object has a name that `makeBackupName` made. */
export function isBackupName(name: string): boolean {
  return nameForm.test(name);
}

/** The default directory of backups, within the data directory. */
export function backupsFolder(dataDir: string): string {
  return join(dataDir, "backups");
}

/** A rehearsal that takes longer has failed, and its claim no longer counts. */
export const maxRehearsalMs = 2 * 3_600_000;

/** The source that a server rehearses to restore: its replica, else its backups; undefined where it makes neither. */
export function rehearsedPlace(config: Pick<Config, "replicateTo" | "backupTo" | "backupEveryMs" | "dataDir">) {
  const { replicateTo, backupTo, backupEveryMs, dataDir } = config;
  return replicateTo ?? backupTo ?? (backupEveryMs === undefined ? undefined : backupsFolder(dataDir));
}

/** Creates the default directory unless it exists, readable by its owner only. */
export function makeBackupsFolder(dataDir: string): string {
  const folder = backupsFolder(dataDir);
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) giveToOwner(folder, dataDir);
  return folder;
}

/** Where the backup with an id copies the database to, before it is packed. */
export function stagingFolder(dataDir: string, id: string): string {
  return join(backupsFolder(dataDir), `.staging-${id}`);
}

/**
 * Parses where a backup goes: `-`, a folder, a file that ends in `.tar.gz`, `s3://bucket/prefix`, or an object.
 * @param source the flag or variable that an error names.
 * @throws validationFailed for anything else.
 */
export function parseDestination(given: string, source: string): BackupLocation {
  if (given === "-") return { kind: "stdout" };
  if (given === "") throw invalidOption(source, "must not be empty");
  const place = backupDestination({ value: given, source }) as string;
  if (place.startsWith("s3:")) return parseS3(place);
  const found = statOrNothing(place);
  if (found?.isDirectory()) return { kind: "folder", path: place, name: undefined };
  if (isArchiveName(place)) return { kind: "folder", path: dirname(place), name: basename(place) };
  if (found !== undefined) throw invalidOption(source, `must be a directory, or a file that ends in ${ending}`);
  return { kind: "folder", path: place, name: undefined };
}

/**
 * Parses where a backup comes from: `-`, any file, or an S3 object.
 * @throws validationFailed for anything else; notFound for a missing file.
 */
export function parseSource(given: string, source: string): BackupLocation {
  if (given === "-" || given.startsWith("s3:")) return parseDestination(given, source);
  const path = resolve(given);
  const found = statOrNothing(path);
  if (found === undefined) throw notFound("backup", path, { remedy: "Check its name and directory." });
  if (found.isDirectory()) return { kind: "folder", path, name: undefined };
  return { kind: "folder", path: dirname(path), name: basename(path) };
}

/** A location as text, as `parseSource` reads it. */
export function formatLocation(location: BackupLocation, name = ""): string {
  switch (location.kind) {
    case "stdout":
      return "-";
    case "folder":
      return join(location.path, location.name ?? name);
    case "s3":
      return `s3://${location.bucket}/${location.prefix}${location.name ?? name}`;
  }
}

function parseS3(address: string): BackupLocation {
  const [, bucket = "", path = ""] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(address) ?? [];
  if (!isArchiveName(path))
    return { kind: "s3", bucket, prefix: path.replace(/\/*$/, "").replace(/.$/, "$&/"), name: undefined };
  const start = path.lastIndexOf("/") + 1;
  return { kind: "s3", bucket, prefix: path.slice(0, start), name: path.slice(start) };
}

function statOrNothing(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function isArchiveName(path: string): boolean {
  return path.endsWith(ending) || path.endsWith(".tgz");
}

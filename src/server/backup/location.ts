import { mkdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { backupDestination, type Config } from "../config/config.ts";
import { chownLike, writeWhole } from "../config/data-dir.ts";
import { invalidOption } from "../config/environment.ts";
import { notFound } from "../errors.ts";
import type { ObjectStorage } from "../object-store/storage.ts";
import { attempt } from "../values/attempt.ts";

export interface BackupLocation {
  place: string;
  /** The name of the file; undefined for a directory or prefix, in which each backup gets a new name. */
  name: string | undefined;
}

const ending = ".tar.gz";
const nameForm = /^bodega-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)\.(\d{3})Z\.tar\.gz$/;

/** Returns a name such as `bodega-20261121T104512.345Z.tar.gz`. Names sort by age. */
export function makeBackupName(now: Date): string {
  return `bodega-${now.toISOString().replace(/[-:]/g, "")}${ending}`;
}

export async function listBackups(storage: ObjectStorage): Promise<string[]> {
  return (await storage.list("bodega-")).filter((name) => nameForm.test(name));
}

export const backupsFolder = (dataDir: string) => join(dataDir, "backups");

/** Returns the place that a server's restore tests read: the replica or, without one, the backups. May be undefined. */
export function restoreTestPlace(config: Pick<Config, "replicateTo" | "backupTo" | "backupEveryMs" | "dataDir">) {
  const { replicateTo, backupTo, backupEveryMs, dataDir } = config;
  return replicateTo ?? backupTo ?? (backupEveryMs === undefined ? undefined : backupsFolder(dataDir));
}

export function makeBackupsFolder(dataDir: string): string {
  const folder = backupsFolder(dataDir);
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) chownLike(folder, dataDir);
  return folder;
}

/** Parses where to store a backup: a directory, a `.tar.gz` file, an S3 prefix or object. Throws validationFailed. */
export function parseDestination(given: string, source: string): BackupLocation {
  if (given === "") throw invalidOption(source, "must not be empty");
  const place = backupDestination({ value: given, source }) as string;
  const found = isAbsolute(place) ? attempt(() => statSync(place)) : undefined;
  const isFile = !found?.isDirectory() && (place.endsWith(ending) || place.endsWith(".tgz"));
  if (found?.isDirectory() || isFile || found === undefined) return locate(place, isFile);
  throw invalidOption(source, `must be a directory, or a file that ends in ${ending}`);
}

/** Parses where to read a backup: any file, or an S3 object. Throws validationFailed; notFound for a missing file. */
export function parseSource(given: string, source: string, remedy = "Check the path."): BackupLocation {
  if (given.startsWith("s3:")) return parseDestination(given, source);
  const path = resolve(given);
  const found = attempt(() => statSync(path));
  if (found === undefined) throw notFound("backup", path, { remedy });
  return locate(path, !found.isDirectory());
}

export function formatLocation({ place, name }: BackupLocation, otherName = ""): string {
  const last = name ?? otherName;
  return place.startsWith("s3:") ? `${place.replace(/\/*$/, "/")}${last}` : join(place, last);
}

function locate(path: string, isFile: boolean): BackupLocation {
  return isFile ? { place: dirname(path), name: basename(path) } : { place: path, name: undefined };
}

type Kind = "backup" | "restore-test";

interface LastResults {
  last_success: { at: string; place: string; bytes: number } | null;
  /** The last failure; null after a later success. `place` is the location that a restore test used. */
  last_failure: { at: string; message: string; place?: string | undefined } | null;
}

export function readLast(dataDir: string, kind: Kind): LastResults {
  const kept = attempt(() => JSON.parse(readFileSync(lastPath(dataDir, kind), "utf8")));
  return { last_success: kept?.last_success ?? null, last_failure: kept?.last_failure ?? null };
}

/** Records a result. Ignores errors, such as a full disk, because the result is also reported elsewhere. */
export function recordResult(dataDir: string, kind: Kind, change: Partial<LastResults>): void {
  attempt(() => {
    makeBackupsFolder(dataDir);
    writeWhole(dataDir, lastPath(dataDir, kind), `${JSON.stringify({ ...readLast(dataDir, kind), ...change })}\n`);
  });
}

const lastPath = (dataDir: string, kind: Kind) =>
  join(backupsFolder(dataDir), kind === "backup" ? "last.json" : "restore-test.json");

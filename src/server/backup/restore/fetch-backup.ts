import {
  closeSync,
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  openSync,
  readSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Config } from "../../config/config.ts";
import { isDamaged } from "../../db/db-errors.ts";
import type { Connection } from "../../db/local/connection.ts";
import { foldLog } from "../../db/local/merge-wal.ts";
import { migrations } from "../../db/migrations.ts";
import { validationFailed } from "../../errors.ts";
import { unpackContainer } from "../container.ts";
import type { Manifest } from "../manifest.ts";
import { openStore } from "../store/open-store.ts";
import { type BackupPlace, formatPlace, placeError } from "../store/place.ts";
import { assertKnownSchema, assertManifestFits, assertOwnSchema } from "./assert-trusted.ts";
import { assertSound, type Inspection, inspectCopy, withCopy } from "./inspect.ts";
import { unsound } from "./unsound.ts";

/** A backup that has been looked through and lies ready, in a folder of its own. */
export interface TakenBackup {
  /** Null for a plain database file. */
  manifest: Manifest | null;
  /** The secret key that was in it. */
  key: string | undefined;
  inspection: Inspection;
  /** Migrations that this program has and the backup lacks. */
  missing: string[];
  /** The folder; the database in it is named `bodega.db`. */
  folder: string;
  databasePath: string;
}

/** How far it is: bytes read of the backup, of so many where that is known; then it is checked. */
export type TakeStep = { step: "reading"; done: number; total?: number } | { step: "checking" };

interface TakeOptions {
  /** Standard input, for `-`. */
  stdin: () => Readable;
  onStep: (step: TakeStep) => void;
  signal: AbortSignal;
}

const databaseName = "bodega.db";
const sqliteStart = "SQLite format 3\0";

/**
 * Reads a backup into a folder, and looks through all of it: the container, its checksum, the database, its references
 * and its schema, and that its manifest tells of this database. What is there already is not touched.
 * @throws validationFailed when it is cut short, altered, damaged or of another program; unavailable when its schema is newer than
 * this program or it cannot be read; notFound where there is none.
 */
export async function takeBackup(
  source: BackupPlace,
  config: Pick<Config, "s3">,
  folder: string,
  options: TakeOptions,
): Promise<TakenBackup> {
  const databasePath = join(folder, databaseName);
  const { manifest, key } = await unpack(source, config, databasePath, options);
  options.onStep({ step: "checking" });
  const inspection = await withSound(databasePath, async (connection) => {
    if (connection.run("SELECT 1 FROM sqlite_schema WHERE name = '__bodega_migrations'").rows.length === 0) {
      throw unsound("The backup holds the database of another program, or an empty one.");
    }
    const found = await inspectCopy(connection);
    assertKnownSchema(found);
    assertSound(connection, "The database in the backup");
    await assertOwnSchema(connection, found);
    if (manifest !== null) assertManifestFits(manifest, key, found);
    return found;
  });
  await foldLog(databasePath);
  const has = new Set(inspection.schema.map(({ name }) => name));
  const missing = migrations.map(({ name }) => name).filter((name) => !has.has(name));
  return { manifest, key, inspection, missing, folder, databasePath };
}

async function unpack(source: BackupPlace, config: Pick<Config, "s3">, databasePath: string, options: TakeOptions) {
  const { onStep, signal } = options;
  if (source.kind === "folder" && source.name !== undefined && isDatabaseFile(join(source.path, source.name))) {
    return copyPlain(join(source.path, source.name), databasePath, options);
  }
  const { stream, bytes } =
    source.kind === "stdout" ? { stream: options.stdin(), bytes: undefined } : await openSource(source, config);
  try {
    return await unpackContainer(stream, databasePath, {
      signal,
      onBytes: (done) => onStep({ step: "reading", done, ...(bytes !== undefined && { total: bytes }) }),
    });
  } catch (error) {
    throw signal.aborted ? error : placeError(error, formatPlace(source), "The backup cannot be unpacked:");
  }
}

async function openSource(source: Exclude<BackupPlace, { kind: "stdout" }>, config: Pick<Config, "s3">) {
  const store = openStore(source, config);
  if (source.name !== undefined) return store.read(source.name);
  const newest = (await store.list()).at(-1);
  const hint =
    newest === undefined ? "There is no backup in it." : `The newest one in it is ${formatPlace(source, newest)}`;
  throw validationFailed(`${formatPlace(source)} is a folder; name one backup. ${hint}`);
}

/** A database file as it stands, such as the ones kept before migrations; its log belongs to it. */
async function copyPlain(path: string, target: string, { onStep, signal }: TakeOptions) {
  const total = statSync(path).size;
  onStep({ step: "reading", done: 0, total });
  try {
    await pipeline(createReadStream(path), createWriteStream(target, { flags: "wx", mode: 0o600 }), { signal });
    if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${target}-wal`);
  } catch (error) {
    throw signal.aborted ? error : placeError(error, path, "The backup cannot be copied:");
  }
  return { manifest: null, key: undefined };
}

/** Whether a file begins as SQLite's do. */
export function isDatabaseFile(path: string): boolean {
  const beginning = Buffer.alloc(sqliteStart.length);
  try {
    const file = openSync(path, "r");
    try {
      return readSync(file, beginning) === beginning.length && beginning.toString("latin1") === sqliteStart;
    } finally {
      closeSync(file);
    }
  } catch {
    // Whoever reads it next says why it cannot be read.
    return false;
  }
}

async function withSound<T>(path: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  try {
    return await withCopy(path, work);
  } catch (error) {
    throw isDamaged(error) ? unsound("The database in the backup is damaged.", { cause: error }) : error;
  }
}

import { open } from "node:fs/promises";
import { join } from "node:path";
import { type BackupLocation, formatLocation } from "../backup/location.ts";
import { damaged, damagedReplica, foreignObject } from "../backup/manifest.ts";
import { type FetchStep, verifyFetched } from "../backup/restore/fetch-backup.ts";
import type { Config } from "../config/config.ts";
import { databaseFile } from "../config/data-dir.ts";
import { pageBytes } from "../db/local/wal-frames.ts";
import { AppError, notFound } from "../errors.ts";
import { storageError } from "../object-store/storage.ts";
import { applyChain, type ChainState } from "./chain.ts";
import { readNewestGeneration, readPlace } from "./generation.ts";
import { listIds, segmentName, snapshotName } from "./names.ts";
import { decompressAtMost, getObject, limitSize } from "./objects.ts";
import { openReplica, type ReplicaTarget, writeReplicaState } from "./target.ts";

export const partBytes = 1024 * pageBytes;

export interface SnapshotHeader {
  format: 1;
  database: string;
  claimed: string;
  version: string;
  /** The file contains everything up to the segment with this id. */
  generation: number;
  sequence: number;
  /** From this sequence on, the copy is consistent. */
  consistentFrom: number;
  at: string;
  parts: { name: string; sha256: string; bytes: number }[];
}

interface RebuildOptions {
  until?: number | undefined;
  onStep: (step: FetchStep) => void;
  signal: AbortSignal;
}

/**
 * Rebuilds a database from its replica, and verifies each part and each link of the chain.
 * @throws notFound if there is no state to restore; validationFailed, which names what is damaged or missing and the
 * newest state before it; unavailable if the place cannot be read.
 */
export async function rebuild(place: ReplicaTarget, path: string, options: RebuildOptions) {
  const { until = Number.POSITIVE_INFINITY, onStep, signal } = options;
  const { snapshot, older } = await findSnapshot(place, until);
  const { generation, sequence, database, claimed, version, consistentFrom, at, parts } = snapshot;
  let state: ChainState = { generation, sequence, hash: undefined, database, claimed, at };
  const file = await open(path, "wx+", 0o600);
  try {
    const total = parts.reduce((sum, { bytes }) => sum + bytes, 0);
    let done = 0;
    for (const [index, { name, sha256, bytes }] of parts.entries()) {
      signal.throwIfAborted();
      const part = await readPart(place, name, sha256);
      await file.write(part, 0, part.length, index * partBytes);
      done += bytes;
      onStep({ step: "reading", done, total });
    }
    for await (const next of applyChain(file, place, state, { consistentFrom, until, signal })) state = next;
    await file.sync();
  } catch (error) {
    // Until the file is consistent, only an older snapshot contains a state to restore.
    const isWhole = state.hash !== undefined && state.sequence >= consistentFrom;
    const offer = isWhole ? state.at : older && new Date(Date.parse(at) - 1).toISOString();
    throw signal.aborted
      ? error
      : suggestEarlierState(storageError(error, path, "The state cannot be rebuilt in"), place, offer);
  } finally {
    await file.close();
  }
  return { state, version };
}

/** Finds the newest snapshot that was consistent at `until`. */
async function findSnapshot(place: ReplicaTarget, until: number) {
  const segments = await listIds(place, "segment");
  const snapshots = await listIds(place, "snapshot");
  for (const [index, id] of [...snapshots.entries()].reverse()) {
    const { generation, sequence } = id;
    const later = segments.find((other) => other.generation > generation && other.sequence <= sequence);
    // A forged segment could hide all snapshots. So the segment is read, which throws an error if it is forged.
    if (later && (await getObject(place, segmentName(later)))) continue;
    const snapshot = (await getObject<SnapshotHeader>(place, snapshotName(id)))?.header;
    if (snapshot && Date.parse(snapshot.at) <= until) return { snapshot, older: index > 0 };
  }
  const remedy =
    snapshots.length === 0 ? "Check the place. A replica begins with its first snapshot." : "Choose a later --at.";
  throw notFound("state", undefined, { in: place.address, remedy });
}

async function readPart(place: ReplicaTarget, name: string, sha256: string): Promise<Uint8Array> {
  const bytes = await place.get(name, { checkSize: limitSize(name, 2 * partBytes) });
  if (bytes === undefined) throw damagedReplica(`${name} is missing`);
  const part = await decompressAtMost(bytes, partBytes);
  if (part === undefined || Bun.SHA256.hash(part, "hex") !== sha256) {
    throw foreignObject(`${name} is truncated or altered`);
  }
  return part;
}

function suggestEarlierState(error: unknown, { address, isUnchecked }: ReplicaTarget, at: string | false): unknown {
  if (!(error instanceof AppError) || error.kind !== "validationFailed" || at === false) return error;
  const flags = `--at ${at}${isUnchecked ? " --without-signature" : ""}`;
  const before = `Restore the newest state before it: bodega db restore ${address} ${flags}`;
  return damaged(error.message, { cause: error, remedy: `${error.remedy ?? ""} ${before}`.trimStart() });
}

export async function findReplica(
  source: BackupLocation,
  config: Pick<Config, "s3" | "secret" | "dataDir">,
  isUnchecked = false,
): Promise<ReplicaTarget | undefined> {
  if (source.name !== undefined) return undefined;
  const place = openReplica(formatLocation(source), config, { isUnchecked });
  return (await readNewestGeneration(place)) > 0 ? place : undefined;
}

/** Rebuilds and verifies a state. Throws as `rebuild` and `fetchBackup`. */
export async function fetchReplica(place: ReplicaTarget, options: RebuildOptions & { folder: string }) {
  const { folder } = options;
  const { state, version } = await rebuild(place, join(folder, "bodega.db"), options);
  options.onStep({ step: "checking" });
  return { ...(await verifyFetched(folder, { created_at: state.at, version })), state };
}

/** Reads the name of the newest object. Returns a function to call after the restore, which records this name. */
export async function beginRestore(place: ReplicaTarget): Promise<(dataDir: string) => void> {
  // A damaged claim must not prevent a restore, so its error is ignored.
  const { newest: restored } = await readPlace(place).catch(() => ({ newest: "" }));
  const state = { place: place.address, generation: 0, end: null, restored };
  return (dataDir) => writeReplicaState(databaseFile(dataDir), state);
}

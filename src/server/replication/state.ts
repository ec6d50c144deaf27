import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeWhole } from "../config/data-dir.ts";
import type { WalPosition } from "../db/local/wal-frames.ts";

/** The progress of the replica, as its data directory knows it. It is written whenever the WAL was emptied into the database file. */
export interface ReplicaState {
  /** The address of the place. */
  place: string;
  /** The generation of the server that wrote it; 0 where a restore did. */
  generation: number;
  /** Where the segment ends that has the last commit in the file; null when no such segment was made. */
  end: WalPosition | null;
  /** Where the file was restored from the newest state: `newest` of the place then. */
  restored?: string;
  /** The file as it was then; another one has commits that were not seen. */
  file: ReturnType<typeof identify>;
}

function identify(databasePath: string) {
  const { ino, size, mtimeMs } = statSync(databasePath);
  return { ino, size, mtimeMs };
}

/**
 * Reads the state; undefined where there is none, or it is of another place than a given one.
 * @returns isSameFile: the database file was not replaced since. isUnchanged: nor was it written; a copy of it counts.
 */
export function readReplicaState(databasePath: string, place?: string) {
  try {
    const state = JSON.parse(readFileSync(statePath(databasePath), "utf8")) as ReplicaState;
    if (withoutSlash(state.place) !== withoutSlash(place ?? state.place)) return undefined;
    const { ino, size, mtimeMs } = identify(databasePath);
    const isUnchanged = state.file.size === size && state.file.mtimeMs === mtimeMs;
    return { ...state, isSameFile: state.file.ino === ino, isUnchanged };
  } catch {
    return undefined;
  }
}

/** Writes the state, if possible. Without it, the next server makes a new snapshot. @throws unavailable if it must. */
export function writeReplicaState(databasePath: string, state: Omit<ReplicaState, "file">, isMust = false): void {
  const text = `${JSON.stringify({ ...state, file: identify(databasePath) })}\n`;
  try {
    writeWhole(dirname(databasePath), statePath(databasePath), text);
  } catch (error) {
    // The disk may be full, which the checkpointer says.
    if (isMust) throw error;
  }
}

/** A prefix in S3 is the same with and without a slash at its end. */
function withoutSlash(place: string): string {
  return place.endsWith("/") ? place.slice(0, -1) : place;
}

function statePath(databasePath: string): string {
  return join(dirname(databasePath), "replication.json");
}

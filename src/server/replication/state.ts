import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeWhole } from "../config/data-dir.ts";
import type { WalPosition } from "../db/local/wal-frames.ts";
import { attempt } from "../values/attempt.ts";

export interface ReplicaState {
  place: string;
  /** The generation of the server that wrote it; 0 after a restore. */
  generation: number;
  /** The end of the last segment that is in the file; null without one. */
  end: WalPosition | null;
  /** The newest object of the place when the file was restored from it. */
  restored?: string;
  /** Identifies the file. If it differs, there are commits that were not sent. */
  file: ReturnType<typeof identify>;
}

function identify(databasePath: string) {
  const { ino, size, mtimeMs } = statSync(databasePath);
  return { ino, size, mtimeMs };
}

/** `isSameFile`: the database file was not replaced. `isUnchanged`: nor was it written; or it is a copy. */
export function readReplicaState(databasePath: string, place?: string) {
  return attempt(() => {
    const state = JSON.parse(readFileSync(statePath(databasePath), "utf8")) as ReplicaState;
    if (withoutSlash(state.place) !== withoutSlash(place ?? state.place)) return undefined;
    const { ino, size, mtimeMs } = identify(databasePath);
    const isUnchanged = state.file.size === size && state.file.mtimeMs === mtimeMs;
    return { ...state, isSameFile: state.file.ino === ino, isUnchanged };
  });
}

/** Writes the state. If that fails, the next server makes a new snapshot. Throws unavailable if `isMust`. */
export function writeReplicaState(databasePath: string, state: Omit<ReplicaState, "file">, isMust = false): void {
  const text = `${JSON.stringify({ ...state, file: identify(databasePath) })}\n`;
  try {
    writeWhole(dirname(databasePath), statePath(databasePath), text);
  } catch (error) {
    // The disk may be full, which the checkpointer reports.
    if (isMust) throw error;
  }
}

/** An S3 prefix means the same with and without a slash at its end. */
const withoutSlash = (place: string) => place.replace(/\/$/, "");

function statePath(databasePath: string): string {
  return join(dirname(databasePath), "replication.json");
}

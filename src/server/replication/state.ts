import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeWhole } from "../config/data-dir.ts";
import type { WalPosition } from "./wal-frames.ts";

/** The progress of the replica, as its data directory knows it. It is written whenever the WAL was emptied into the database file. */
export interface ReplicaState {
  /** The address of the place. */
  place: string;
  /** The generation of the server that wrote it. */
  generation: number;
  /** Where the segment ends that has the last commit in the file; null when no such segment was made. */
  end: WalPosition | null;
  /** The file as it was then; another one has commits that were not seen. */
  file: FileIdentity;
}

interface FileIdentity {
  ino: number;
  size: number;
  mtimeMs: number;
}

export function identify(databasePath: string): FileIdentity {
  const { ino, size, mtimeMs } = statSync(databasePath);
  return { ino, size, mtimeMs };
}

/** The generation that a data directory last had in a place; 0 where it had none. */
export function readKnownGeneration(databasePath: string, place: string): number {
  try {
    const state = JSON.parse(readFileSync(statePath(databasePath), "utf8")) as ReplicaState;
    return state.place === place && state.file.ino === identify(databasePath).ino ? state.generation : 0;
  } catch {
    return 0;
  }
}

/** Reads the state; undefined where there is none, it is of another place, or the database file was changed since. */
export function readReplicaState(databasePath: string, place: string): ReplicaState | undefined {
  try {
    const state = JSON.parse(readFileSync(statePath(databasePath), "utf8")) as ReplicaState;
    const isSame = JSON.stringify(state.file) === JSON.stringify(identify(databasePath));
    return isSame && state.place === place ? state : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the state. Without it, the next server makes a new snapshot. */
export function writeReplicaState(databasePath: string, state: Omit<ReplicaState, "file">): void {
  const text = `${JSON.stringify({ ...state, file: identify(databasePath) })}\n`;
  try {
    writeWhole(dirname(databasePath), statePath(databasePath), text);
  } catch {
    // The disk may be full, which the checkpointer says.
  }
}

function statePath(databasePath: string): string {
  return join(dirname(databasePath), "replication.json");
}

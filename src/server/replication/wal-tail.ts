import { closeSync, openSync, readSync, statSync } from "node:fs";
import {
  type Changes,
  FrameReader,
  frameBytes,
  isSameWal,
  startOf,
  type WalPosition,
  walHeaderBytes,
} from "../db/local/wal-frames.ts";
import type { WalObserver } from "../db/local/wal-truncator.ts";
import { absent } from "../object-store/storage.ts";
import { MiB } from "../values/units.ts";

/** How many bytes of the WAL to read in one turn of the event loop. */
const chunkBytes = 256 * frameBytes;
/** About how many bytes of the WAL to put into one segment. */
const maxBytes = 16 * MiB;
/** How many bytes of the WAL may be unread when it is emptied. Reading these bytes delays waiting writes. */
const maxRest = 16 * MiB;

export interface WalRead {
  changes: Changes;
  /** Whether the changes were read when the WAL was emptied, and kept in memory. */
  isHeld: boolean;
  /** Whether the changes included the latest commit when they were read. */
  isAll: boolean;
}

/** Reads the commits that were not sent yet. When the WAL is emptied, these commits are kept in memory. */
export class WalTail implements WalObserver {
  readonly #path: string;
  readonly #on: { emptied: (isWhole: boolean) => void; wanted: () => void };
  /** Where reading continues. If undefined, at the first frame of the WAL or, if the WAL is empty, of the next one. */
  #position: WalPosition | undefined;
  #held: Changes | undefined;
  #captured: Changes | "lost" | undefined;
  #isLost = false;
  /** The position after the last commit in the database file; null if unknown. */
  end: WalPosition | null;
  readonly maxWalBytes = 256 * MiB;

  /** `emptied` is called with false if commits were discarded unread; `wanted` while the WAL waits to be emptied. */
  constructor(wal: string, end: WalPosition | null, on: { emptied: (isWhole: boolean) => void; wanted: () => void }) {
    this.#path = wal;
    this.end = end;
    this.#on = on;
  }

  /** Reads the next commits, up to about `maxBytes`. */
  async read(): Promise<WalRead | "nothing" | "lost"> {
    if (this.#isLost) return "lost";
    if (this.#held !== undefined) return { changes: this.#held, isHeld: true, isAll: false };
    const position = this.#position;
    const steps = readWal(this.#path, position, { limit: maxBytes });
    for (let step = steps.next(); ; step = steps.next()) {
      // The WAL was emptied meanwhile, so this part is already in memory.
      if (this.#position !== position || this.#held !== undefined) return this.read();
      if (!step.done) await new Promise((resolve) => setImmediate(resolve));
      else if (step.value === undefined) return "nothing";
      else if (step.value === "lost") return "lost";
      else return { changes: step.value.changes, isHeld: false, isAll: step.value.isEnd };
    }
  }

  advance({ changes, isHeld }: WalRead): void {
    if (isHeld) this.#held = undefined;
    // If the WAL was emptied while changes were sent, they are also in memory, and are sent once more.
    else if (this.#held === undefined) this.#position = changes.end;
  }

  /** Continues after the last segment of an earlier process. Returns false unless the WAL still has the same frames. */
  resume(end: WalPosition): boolean {
    if (this.#isLost || this.#held !== undefined || this.#position !== undefined) return false;
    const found = readAll(readWal(this.#path, undefined, { until: end.offset }));
    if (!found || found === "lost" || JSON.stringify(found.changes.end) !== JSON.stringify(end)) return false;
    this.#position = end;
    return true;
  }

  restart(): void {
    this.#position = undefined;
    this.#held = undefined;
    this.#isLost = false;
  }

  unsentBytes(): number {
    const walBytes = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    return Math.max(0, walBytes - (this.#position?.offset ?? 0)) + (this.#held?.pages.size ?? 0) * frameBytes;
  }

  mayEmpty(walBytes: number, isUrgent: boolean): boolean {
    const may = isUrgent || (this.#held === undefined && walBytes - (this.#position?.offset ?? 0) <= maxRest);
    if (!may) this.#on.wanted();
    return may;
  }

  capture(walBytes: number): void {
    this.#captured = undefined;
    if (this.#isLost) return;
    if (!this.mayEmpty(walBytes, false)) {
      this.#captured = "lost";
      return;
    }
    const found = readAll(readWal(this.#path, this.#position, {}));
    this.#captured = found === "lost" ? "lost" : found?.changes;
  }

  emptied(isWhole: boolean): void {
    const captured = this.#captured;
    this.#captured = undefined;
    if (captured === "lost" || !isWhole) this.#isLost = true;
    else if (captured !== undefined) this.#held = captured;
    this.end = captured === "lost" || this.#isLost ? null : (captured?.end ?? this.#position ?? this.end);
    this.#position = undefined;
    this.#on.emptied(!this.#isLost);
  }
}

/**
 * Returns the commits after a position, and whether the WAL ends there; undefined if there are none.
 * @param limits `limit` is about how many bytes to read; `until` is the offset at which reading stops.
 */
function* readWal(
  path: string,
  position: WalPosition | undefined,
  { limit = Number.POSITIVE_INFINITY, until = Number.POSITIVE_INFINITY },
) {
  const file = openWal(path);
  if (file === undefined) return position === undefined ? undefined : "lost";
  try {
    const start = findStart(file, position);
    if (start === undefined || start === "lost") return start;
    const reader = new FrameReader(start);
    const from = reader.offset;
    for (;;) {
      const chunk = new Uint8Array(Math.min(chunkBytes, until - reader.offset));
      const bytes = readSync(file, chunk, 0, chunk.length, reader.offset);
      reader.read(chunk.subarray(0, bytes));
      const isEnd = reader.hasEnded || bytes < chunkBytes;
      const hasEnough = reader.changes !== undefined && reader.offset - from >= limit;
      if (isEnd || hasEnough) return reader.changes && { changes: reader.changes, isEnd };
      yield;
    }
  } finally {
    closeSync(file);
  }
}

/** Returns the position to read from; undefined if the WAL is empty; `lost` if the WAL no longer has the position. */
function findStart(file: number, position: WalPosition | undefined): WalPosition | "lost" | undefined {
  const header = new Uint8Array(walHeaderBytes);
  const isEmpty = readSync(file, header, 0, walHeaderBytes, 0) < walHeaderBytes;
  if (isEmpty) return position === undefined ? undefined : "lost";
  const start = startOf(header);
  // An invalid header is still being written, and a later call reads it. Without a position, reading begins at the start.
  if (start === undefined || position === undefined) return start;
  return isSameWal(start, position) ? position : "lost";
}

function readAll<Result>(steps: Generator<unknown, Result>): Result {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

function openWal(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    return absent(error, "ENOENT");
  }
}

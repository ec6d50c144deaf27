/** Sizes and offsets of https://sqlite.org/fileformat2.html#walformat, for the page size of this program. */
export const pageBytes = 4096;
export const walHeaderBytes = 32;
const frameHeaderBytes = 24;
export const frameBytes = frameHeaderBytes + pageBytes;
const magic = 0x377f0682;

type Pair = [number, number];

/** The position at which reading continues: after a commit, or at the first frame. */
export interface WalPosition {
  /** Two numbers that change each time the WAL is emptied. */
  salts: Pair;
  offset: number;
  /** The checksum of the previous frame, from which the next one is computed. */
  sums: Pair;
}

export interface Changes {
  pages: Map<number, Uint8Array>;
  pageCount: number;
  end: WalPosition;
}

/** Returns the position of the first frame; undefined if the header is invalid. */
export function startOf(header: Uint8Array): WalPosition | undefined {
  if (header.length < walHeaderBytes) return undefined;
  const view = viewOf(header);
  const sums = sumOf(header, 0, 24, [0, 0]);
  const isSound = sums[0] === view.getInt32(24) && sums[1] === view.getInt32(28);
  if (!isSound || view.getUint32(0) !== magic || view.getUint32(8) !== pageBytes) return undefined;
  return { salts: [view.getUint32(16), view.getUint32(20)], offset: walHeaderBytes, sums };
}

/** Returns true if the WAL was not emptied between two positions or frames. */
export function isSameWal({ salts: [first, second] }: Pick<WalPosition, "salts">, { salts }: { salts: Pair }): boolean {
  return first === salts[0] && second === salts[1];
}

/**
 * Reads a frame. `pageCount` is the size of the database, set only in the last frame of a transaction; `isSound` says
 * whether the checksum follows from the previous frame.
 */
export function readFrame(bytes: Uint8Array, at: number, previous: Pair) {
  const view = viewOf(bytes.subarray(at, at + frameHeaderBytes));
  const [one, two] = sumOf(bytes, at + frameHeaderBytes, at + frameBytes, sumOf(bytes, at, at + 8, previous));
  const sums: Pair = [view.getInt32(16), view.getInt32(20)];
  return {
    number: view.getUint32(0),
    pageCount: view.getUint32(4),
    salts: [view.getUint32(8), view.getUint32(12)] as Pair,
    sums,
    isSound: one === sums[0] && two === sums[1],
  };
}

/**
 * Reads the frames of a WAL piece by piece and collects the pages that its commits changed. It ends at the first
 * invalid frame: later frames are old, or belong to a transaction that is still being written.
 */
export class FrameReader {
  #position: WalPosition;
  #uncommitted = new Map<number, Uint8Array>();
  /** The changes of the commits read so far; undefined before the first commit. */
  changes: Changes | undefined;
  hasEnded = false;

  constructor(start: WalPosition) {
    this.#position = start;
  }

  get offset(): number {
    return this.#position.offset;
  }

  /** Reads whole frames that begin at `offset`. Keeps references to `bytes`. */
  read(bytes: Uint8Array): void {
    for (let at = 0; !this.hasEnded && at + frameBytes <= bytes.length; at += frameBytes) {
      const { salts, offset, sums: previous } = this.#position;
      const { number, pageCount, sums, isSound, ...frame } = readFrame(bytes, at, previous);
      if (!isSound || !isSameWal(frame, { salts })) {
        this.hasEnded = true;
        return;
      }
      this.#position = { salts, offset: offset + frameBytes, sums };
      this.#uncommitted.set(number, bytes.subarray(at + frameHeaderBytes, at + frameBytes));
      if (pageCount > 0) this.#commit(pageCount);
    }
  }

  #commit(pageCount: number): void {
    const pages = this.changes?.pages ?? new Map<number, Uint8Array>();
    for (const [number, page] of this.#uncommitted) pages.set(number, page);
    this.#uncommitted = new Map();
    this.changes = { pages, pageCount, end: this.#position };
  }
}

/**
 * Computes SQLite's checksum (little-endian here), continued from `sums`. Each addition is cut to 32 bits, because
 * JavaScript would add three numbers as floating-point numbers, which is seven times slower.
 */
export function sumOf(bytes: Uint8Array, start: number, end: number, [first, second]: Pair): Pair {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + start, (end - start) / 4);
  let one = first;
  let two = second;
  for (let at = 0; at < words.length; at += 2) {
    one = (((one + (words[at] as number)) | 0) + two) | 0;
    two = (((two + (words[at + 1] as number)) | 0) + one) | 0;
  }
  return [one, two];
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

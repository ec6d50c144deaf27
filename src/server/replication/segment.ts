import { damagedReplica } from "../backup/manifest.ts";
import { pageBytes, type WalPosition } from "../db/local/wal-frames.ts";
import { unavailable } from "../errors.ts";
import { MiB } from "../values/units.ts";
import { decompressAtMost, type StoredObject } from "./objects.ts";

/** The segment's place in the chain, and what it contains. Times are RFC 3339. */
export interface SegmentHeader {
  format: 1;
  /** The time at which the database was created. It identifies the database. */
  database: string;
  generation: number;
  /** When the server claimed the generation. It distinguishes a replica from a later one in the same place. */
  claimed: string;
  sequence: number;
  /** The previous segment; null for the first one of a place. */
  previous: { generation: number; sequence: number; hash: string } | null;
  /** Whether commits before this segment were lost, so that it can only follow a snapshot. */
  isBase: boolean;
  /** The database contains all commits until this time. */
  at: string;
  pageCount: number;
  end: WalPosition;
}

export interface Segment {
  header: SegmentHeader;
  /** The hash of this segment, which the next one contains. */
  hash: string;
  numbers: Uint32Array;
  /** The pages of `numbers`, in the same order. */
  pages: Uint8Array;
}

const zstdLevel = 1;
/** A larger transaction is not sent as a segment. When the WAL has been emptied, a new snapshot contains it. */
const maxPages = (256 * MiB) / pageBytes;

const maxDatabasePages = 2 ** 32 - 2;

/** Compresses the number of pages, the numbers of these pages (32 bits each, little-endian), and the pages. */
export function encodePages(changed: Map<number, Uint8Array>): Promise<Uint8Array> {
  if (changed.size > maxPages)
    throw unavailable("One transaction changed more than 256 MiB. A new snapshot is made next.");
  const numbers = Uint32Array.from([changed.size, ...changed.keys()]);
  const raw = Buffer.concat([new Uint8Array(numbers.buffer), ...changed.values()]);
  return Bun.zstdCompress(raw, { level: zstdLevel });
}

export async function decodeSegment(found: StoredObject<SegmentHeader> | undefined, name: string): Promise<Segment> {
  if (found === undefined) throw damagedReplica(`${name} is missing`);
  const { header, payload, hash } = found;
  const raw = await decompressAtMost(payload, 4 + maxPages * (4 + pageBytes));
  const count = raw === undefined || raw.length < 4 ? 0 : new DataView(raw.buffer, raw.byteOffset).getUint32(0, true);
  if (raw === undefined || raw.length !== 4 + count * (4 + pageBytes)) throw damagedReplica(`${name} is altered`);
  const numbers = new Uint32Array(raw.buffer.slice(raw.byteOffset + 4, raw.byteOffset + 4 + count * 4));
  const isSound = header.pageCount > 0 && header.pageCount <= maxDatabasePages && !numbers.includes(0);
  if (!isSound) throw damagedReplica(`${name} is altered`);
  return { header, hash, numbers, pages: raw.subarray(4 + count * 4) };
}

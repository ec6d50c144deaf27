import { damaged } from "../backup/manifest.ts";
import { pageBytes, type WalPosition } from "../db/local/wal-frames.ts";
import type { AppError } from "../errors.ts";

/** One object of a place: what it follows, and what it changes. Times are RFC 3339. */
export interface SegmentHeader {
  format: 1;
  /** Identifies the database: when it was created. */
  database: string;
  generation: number;
  sequence: number;
  /** The segment before it; null for the first one of a place. */
  previous: { generation: number; sequence: number; hash: string } | null;
  /** Whether commits before it were not seen, so that it applies to a snapshot only. */
  isBase: boolean;
  /** The database contains everything that was committed until then. */
  at: string;
  /** The last segments, up to this one, whose time is before that of the one in front: the clock was set back. */
  setBacks?: { sequence: number; at: string }[];
  /** The size of the database after it, in pages. */
  pageCount: number;
  /** Where it ends in the WAL of its server. */
  end: WalPosition;
}

/** A segment as it was read: verified, with its pages in one piece. */
export interface Segment {
  header: SegmentHeader;
  /** Names these bytes in the segment that follows. */
  hash: string;
  numbers: Uint32Array;
  /** The pages of `numbers`, in the same order. */
  pages: Uint8Array;
}

const hashBytes = 32;
const zstdLevel = 1;
const lineFeed = 0x0a;

/** Encodes a segment: its header as a line of JSON, its pages compressed, and the SHA-256 of both. */
export async function encodeSegment(header: SegmentHeader, changed: Map<number, Uint8Array>) {
  const numbers = new Uint32Array(changed.size);
  const raw = new Uint8Array(4 + changed.size * (4 + pageBytes));
  let at = 0;
  for (const [number, page] of changed) {
    numbers[at] = number;
    raw.set(page, 4 + changed.size * 4 + at * pageBytes);
    at++;
  }
  new DataView(raw.buffer).setUint32(0, changed.size, true);
  raw.set(new Uint8Array(numbers.buffer), 4);
  return sealed(header, await Bun.zstdCompress(raw, { level: zstdLevel }));
}

/**
 * Verifies a segment and decodes it.
 * @param name what errors call it.
 * @throws validationFailed when it is truncated or altered.
 */
export async function decodeSegment(bytes: Uint8Array, name: string): Promise<Segment> {
  const { header, payload, hash } = unseal<SegmentHeader>(bytes, name);
  const raw = await Bun.zstdDecompress(payload as Uint8Array<ArrayBuffer>);
  const count = new DataView(raw.buffer, raw.byteOffset).getUint32(0, true);
  const numbers = new Uint32Array(raw.buffer.slice(raw.byteOffset + 4, raw.byteOffset + 4 + count * 4));
  return { header, hash, numbers, pages: raw.subarray(4 + count * 4) };
}

/** A header and its payload in one object, which ends with the SHA-256 of what is before it. */
export function sealed(header: object, payload: Uint8Array): { bytes: Uint8Array; hash: string } {
  const line = new TextEncoder().encode(`${JSON.stringify(header)}\n`);
  const bytes = new Uint8Array(line.length + payload.length + hashBytes);
  bytes.set(line);
  bytes.set(payload, line.length);
  const digest = Bun.SHA256.hash(bytes.subarray(0, -hashBytes)) as Uint8Array;
  bytes.set(digest, bytes.length - hashBytes);
  return { bytes, hash: Buffer.from(digest).toString("hex") };
}

/**
 * Opens what `sealed` made.
 * @throws validationFailed when it is truncated, altered, or of a newer version.
 */
export function unseal<Header extends { format: number }>(bytes: Uint8Array, name: string) {
  const body = bytes.subarray(0, Math.max(0, bytes.length - hashBytes));
  const hash = Bun.SHA256.hash(body, "hex");
  if (bytes.length <= hashBytes || hash !== Buffer.from(bytes.subarray(-hashBytes)).toString("hex")) {
    throw damagedReplica(`${name} is truncated or altered`);
  }
  const end = body.indexOf(lineFeed);
  const header = JSON.parse(Buffer.from(body.subarray(0, end)).toString("utf8")) as Header;
  if (header.format !== 1) throw damagedReplica(`${name} was written by a newer version. Update Bodega`);
  return { header, payload: body.subarray(end + 1), hash };
}

export const replicaDamage = "The replica is damaged: ";

/** The error for a replica that cannot be used from some object on. */
export function damagedReplica(reason: string): AppError {
  return damaged(`${replicaDamage}${reason}.`);
}

import { type Coding, compress } from "./compression.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns a complete compressed message with the given head and the tail. */
type CompressedTail = (head: Bytes) => Bytes;

const encoder = new TextEncoder();

/** The part of a reply after its request id. The tail is compressed at the first use, and the result is kept. */
export class KeptTail {
  readonly #tail: Bytes;
  readonly #compressed: Partial<Record<Coding, CompressedTail | Promise<CompressedTail>>> = {};

  constructor(text: string) {
    this.#tail = encoder.encode(text);
  }

  /** Bytes of the tail in UTF-8. Its compressed forms take further memory. */
  get length(): number {
    return this.#tail.length;
  }

  /**
   * Returns the head and the tail as one message in this coding. In the message, the head is an uncompressed block.
   * @param head at most 65,535 bytes in UTF-8.
   */
  join(head: string, coding: Coding | undefined): Bytes | Promise<Bytes> {
    const start = encoder.encode(head);
    if (coding === undefined) return Buffer.concat([start, this.#tail]);
    const compressed = this.#compressed[coding] ?? this.#compress(coding);
    return compressed instanceof Promise ? compressed.then((join) => join(start)) : compressed(start);
  }

  #compress(coding: Coding): CompressedTail | Promise<CompressedTail> {
    const keep = (message: Bytes) => {
      const compressed = coding === "gzip" ? splitGzip(message) : splitZstd(message, this.#tail.length);
      this.#compressed[coding] = compressed;
      return compressed;
    };
    const message = compress(this.#tail, coding);
    if (!(message instanceof Promise)) return keep(message);
    const compressing = message.then(keep);
    this.#compressed[coding] = compressing;
    // After a failure, the next reply tries again.
    compressing.catch(() => delete this.#compressed[coding]);
    return compressing;
  }
}

/** The magic number, the method deflate, no flags, no time, and an unknown system (RFC 1952, section 2.3). */
const gzipHeader = new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
const gzipTrailerBytes = 8;

/**
 * Puts the head into a stored block before the blocks of the tail. These can follow, because a stored block ends at a
 * whole byte, and because they refer back only to bytes of the tail.
 */
function splitGzip(member: Bytes): CompressedTail {
  const trailer = Buffer.from(member.subarray(-gzipTrailerBytes));
  const [tailCrc, tailLength] = [trailer.readUInt32LE(0), trailer.readUInt32LE(4)];
  const blocks = member.subarray(gzipHeader.length, -gzipTrailerBytes);
  const shift = shiftCrc(tailLength);

  return (head) => {
    // The first byte, 0, means a stored block that is not the last. The length and its complement follow.
    const blockHeader = Buffer.alloc(5);
    blockHeader.writeUInt16LE(head.length, 1);
    blockHeader.writeUInt16LE(0xffff - head.length, 3);
    const ending = Buffer.alloc(gzipTrailerBytes);
    ending.writeUInt32LE((multiply(Bun.hash.crc32(head), shift) ^ tailCrc) >>> 0, 0);
    ending.writeUInt32LE((head.length + tailLength) >>> 0, 4);
    return Buffer.concat([gzipHeader, blockHeader, head, blocks, ending]);
  };
}

/** A CRC-32 is a polynomial modulo this one. The highest bit is the coefficient of x^0, the lowest that of x^31. */
const crcPolynomial = 0xedb88320;
const crcOne = 0x80000000;

/** Returns x^(8·length), by which the CRC-32 of a head is multiplied when `length` bytes follow the head. */
function shiftCrc(length: number): number {
  let power = crcOne;
  let square = crcOne >>> 8;
  for (let rest = length; rest > 0; rest >>>= 1) {
    if (rest & 1) power = multiply(power, square);
    square = multiply(square, square);
  }
  return power;
}

/** Multiplies two polynomials. Masks replace branches, because a processor cannot predict the bits of a checksum. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = 31; bit >= 0; bit--) {
    product ^= shifted & -((a >>> bit) & 1);
    shifted = (shifted >>> 1) ^ (crcPolynomial & -(shifted & 1));
  }
  return product;
}

const zstdMagic = [0x28, 0xb5, 0x2f, 0xfd];
/** The largest block, 128 KiB, needs a window of this size. */
const minWindowBits = 17;
/** Browsers refuse a window above 8 MiB (RFC 9659). The level of `compress` uses at most 2 MiB. */
const maxWindowBits = 23;

/** Puts the head into a raw block before the blocks of the tail, which refer back only to bytes of the tail. */
function splitZstd(frame: Bytes, tailLength: number): CompressedTail {
  const blocks = findZstdBlocks(frame);
  const windowBits = Math.min(Math.max(Math.ceil(Math.log2(tailLength)), minWindowBits), maxWindowBits);
  // The 0 says that there is neither a content size nor a checksum. The exponent of the window counts from 1 KiB.
  const header = new Uint8Array([...zstdMagic, 0, (windowBits - 10) << 3]);

  return (head) => {
    // The lowest three bits, 0, mean a raw block that is not the last.
    const blockHeader = Buffer.alloc(3);
    blockHeader.writeUIntLE(head.length << 3, 0, 3);
    return Buffer.concat([header, blockHeader, head, blocks]);
  };
}

/** Returns a frame without its header and its checksum (RFC 8878, section 3.1.1). */
function findZstdBlocks(frame: Bytes): Bytes {
  const descriptor = frame[zstdMagic.length] ?? 0;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const windowBytes = isSingleSegment ? 0 : 1;
  const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const checksumBytes = (descriptor & 0x04) === 0 ? 0 : 4;
  return frame.subarray(zstdMagic.length + 1 + windowBytes + contentSizeBytes, frame.length - checksumBytes);
}

import { crc32, deflateSync } from "node:zlib";
import type { Call } from "./client.ts";

type Rgb = readonly [red: number, green: number, blue: number];

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

function header(width: number, height: number): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([8, 2], 8);
  return chunk("IHDR", data);
}

/** Makes a PNG. `colour` returns the colour of each pixel, by default red; `extra` are further chunks before the pixels. */
export function makePng(
  width: number,
  height: number,
  colour: ((x: number, y: number) => Rgb) | undefined = undefined,
  extra: { type: string; data: Uint8Array }[] = [],
): Uint8Array<ArrayBuffer> {
  const red = Buffer.concat([Buffer.alloc(1), Buffer.alloc(width * 3, Buffer.from([200, 40, 40]))]);
  const rows = Buffer.alloc(red.length * height, red);
  for (let y = 0; colour !== undefined && y < height; y++) {
    for (let x = 0; x < width; x++) rows.set(colour(x, y), y * red.length + 1 + x * 3);
  }
  const more = extra.map(({ type, data }) => chunk(type, data));
  const parts = [signature, header(width, height), ...more, chunk("IDAT", deflateSync(rows, { level: 1 }))];
  return new Uint8Array(Buffer.concat([...parts, chunk("IEND", new Uint8Array(0))]));
}

/** Makes a PNG of a few bytes that claims a size but has no pixels. */
export function makeBomb(width: number, height: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    Buffer.concat([signature, header(width, height), chunk("IDAT", deflateSync(Buffer.alloc(64)))]),
  );
}

/** Makes a JPEG with the metadata of a camera: orientation (EXIF, 1 to 8), location and owner. */
export async function makePhoto(png: Uint8Array, orientation: number): Promise<Uint8Array<ArrayBuffer>> {
  const jpeg = await new Bun.Image(png).jpeg({ quality: 95 }).buffer();
  const tags = Buffer.alloc(2 + 2 * 12 + 4);
  tags.writeUInt16BE(2, 0);
  tags.set([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0], 2);
  tags.set([0x88, 0x25, 0, 4, 0, 0, 0, 1, 0, 0, 0, 8], 14);
  const exif = Buffer.concat([
    Buffer.from("Exif\0\0MM\0*\0\0\0\x08", "latin1"),
    tags,
    Buffer.from("GPS 52.5 N 13.4 E Ada"),
  ]);
  const marker = Buffer.from([0xff, 0xe1, (exif.length + 2) >> 8, (exif.length + 2) & 255]);
  return new Uint8Array(Buffer.concat([jpeg.subarray(0, 2), marker, exif, jpeg.subarray(2)]));
}

/** Makes a JPEG that claims a size and repeats its only scan many times. */
export async function makeScans(scans: number, side: number): Promise<Uint8Array<ArrayBuffer>> {
  const jpeg = await new Bun.Image(newPng()).jpeg().buffer();
  const frame = jpeg.indexOf("\xff\xc0", 0, "latin1");
  jpeg.writeUInt16BE(side, frame + 5);
  jpeg.writeUInt16BE(side, frame + 7);
  const [scan, end] = ["\xff\xda", "\xff\xd9"].map((marker) => jpeg.lastIndexOf(marker, jpeg.length, "latin1"));
  const repeated = Array.from({ length: scans }, () => jpeg.subarray(scan, end));
  return new Uint8Array(Buffer.concat([jpeg.subarray(0, scan), ...repeated, jpeg.subarray(end)]));
}

/** The beginning of two GIFs: one has a red pixel, and the other also has a second frame with a blue pixel. */
const gifHead = "R0lGODlhAQABAIABAP8AAAAA/";
export const redGif = new Uint8Array(Buffer.from(`${gifHead}yH5BAEKAAEALAAAAAABAAEAAAICRAEAOw==`, "base64"));

/** An uploaded picture in a reply. */
export interface Uploaded extends Record<string, unknown> {
  id: string;
  url: string;
  width: number;
  height: number;
  bytes: number;
}

let pictures = 0;

/** Makes a small picture whose bytes no other test uploads. The stored WebP of all pictures of one size is the same. */
export function newPng(width = 8, height = 6): Uint8Array<ArrayBuffer> {
  return makePng(width, height, undefined, [{ type: "tEXt", data: Buffer.from(`Number\0${++pictures}`) }]);
}

/** Uploads a picture as the body of the request. */
export function upload(call: Call, picture: Uint8Array<ArrayBuffer> = newPng(), type = "image/png") {
  return call<Uploaded>("POST /media/", { raw: picture, headers: { "content-type": type } });
}

import { invalidField, unsupportedMediaType, validationFailed } from "../../errors.ts";
import { Semaphore } from "../../values/semaphore.ts";

/** A picture as it is stored: WebP without metadata, upright, with both sides of at most `maxSide` pixels. */
export interface Picture {
  bytes: Uint8Array;
  width: number;
  height: number;
}

/** Maximum size of an upload, in bytes. */
export const maxUploadBytes = 20 * 1024 * 1024;
const maxPixels = 40_000_000;
/** Of either side. The stored picture then has at most 5.5 MB, whatever it shows. */
const maxSide = 2560;
/** The longest side that WebP, and so the decoder, can have. */
const maxDecodedSide = 16_383;
const formats: readonly string[] = ["jpeg", "png", "webp", "gif"];
/** Colour profiles of cameras and screens are shorter; a longer one would add to every width. */
const maxProfileBytes = 16 * 1024;

/**
 * One decoded picture has up to 160 MB, 320 MB while it is turned, so a process works on one at a time, on Bun's thread
 * pool. Stores take turns.
 */
const work = new Semaphore({
  permits: 1,
  maxWaiting: 1000,
  maxWaitMs: 60_000,
  fullMessage: "Too many pictures are being processed.",
});

/**
 * Decodes an upload and encodes it again as WebP: upright, without metadata, and scaled down to fit `maxSide`. Of an
 * animation the first frame remains. The size in its header is checked before anything is decoded.
 * @param party the id of the store: stores take turns.
 * @throws unsupportedMediaType unless it is a JPEG, PNG, WebP or GIF; validationFailed if it is too large, cut off or
 * damaged; unavailable when too many wait.
 */
export function readPicture(upload: Uint8Array, party: string): Promise<Picture> {
  return work.run(async () => {
    await checkPicture(upload);
    return encode(upload, maxSide).catch((cause) => {
      throw damaged(cause);
    });
  }, party);
}

/** Checks an upload as far as possible without decoding it. Errors: as `readPicture`. */
export async function checkPicture(upload: Uint8Array): Promise<void> {
  const { width, height, format } = await headerOf(upload);
  if (!formats.includes(format)) throw notPicture();
  if (width * height > maxPixels || Math.max(width, height) > maxDecodedSide) throw tooManyPixels();
  if (format === "jpeg" && !isWholeJpeg(upload)) throw damaged();
}

/**
 * Scales a stored picture down to a width. `read` is called when it is its turn, so that nothing large waits.
 * @throws unavailable when too many wait; errors of `read`.
 */
export async function scalePicture(read: () => Promise<Uint8Array>, width: number, party: string): Promise<Uint8Array> {
  // A narrow picture can be higher than wide.
  return (await work.run(async () => encode(await read(), width, maxDecodedSide), party)).bytes;
}

async function headerOf(upload: Uint8Array): Promise<Bun.Image.Metadata> {
  try {
    return await new Bun.Image(upload, { maxPixels }).metadata();
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ERR_IMAGE_TOO_MANY_PIXELS") throw tooManyPixels();
    throw code === "ERR_IMAGE_DECODE_FAILED" ? damaged(error) : notPicture(error);
  }
}

async function encode(bytes: Uint8Array, width: number, height = width): Promise<Picture> {
  const image = new Bun.Image(bytes, { maxPixels })
    .resize(width, height, { fit: "inside", withoutEnlargement: true })
    .webp({ quality: 85 });
  const encoded = withoutLongProfile(await image.buffer());
  return { bytes: encoded, width: image.width, height: image.height };
}

/** Bun keeps the colour profile, in which a file can hide anything. The encoder writes it behind the extended header. */
function withoutLongProfile(webp: Buffer): Buffer {
  if (webp.toString("latin1", 30, 34) !== "ICCP") return webp;
  const length = webp.readUInt32LE(34);
  if (length <= maxProfileBytes) return webp;
  const rest = webp.subarray(38 + length + (length % 2));
  const header = Buffer.from(webp.subarray(0, 30));
  header.writeUInt8(header.readUInt8(20) & ~0x20, 20);
  header.writeUInt32LE(header.length + rest.length - 8, 4);
  return Buffer.concat([header, rest]);
}

/** Whether a JPEG has its end marker: the decoder fills what is missing with grey. */
function isWholeJpeg(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 2;
  // The segments before the first scan can contain a preview with markers of its own.
  while (at + 4 <= bytes.length && view.getUint16(at) !== 0xffda) {
    at += view.getUint16(at) === 0xffff ? 1 : 2 + view.getUint16(at + 2);
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf("\xff\xd9", at, "latin1") !== -1;
}

function notPicture(cause?: unknown) {
  const remedy = "Send a JPEG, PNG, WebP or GIF.";
  return unsupportedMediaType("The file is not a picture of a supported format.", { cause, remedy });
}

function tooManyPixels() {
  const most = `at most ${maxPixels / 1e6} million pixels, and ${maxDecodedSide} on a side`;
  return invalidField("file", `must have ${most}`);
}

function damaged(cause?: unknown) {
  return validationFailed([{ field: "file", message: "is damaged or cut off" }], { cause });
}

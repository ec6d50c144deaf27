import { Semaphore } from "../../concurrency/semaphore.ts";
import { AppError, invalidField, unsupportedMediaType, validationFailed } from "../../errors.ts";
import { decodeApart, encodePicture, maxPixels, type Picture } from "./decoder.ts";

export const maxUploadBytes = 20 * 1024 * 1024;
/** Maximum width and height of an upload: that of the WebP format. */
const maxDecodedSide = 16_383;
/** Maximum scans of a JPEG. A progressive JPEG has about ten. A scan of only 61 bytes can take 25 ms to decode. */
const maxScans = 100;
const maxScannedPixels = 1_000_000_000;
const formats: readonly string[] = ["jpeg", "png", "webp", "gif"];
/** `maxWaitMs` and the deadline of `decodeApart` together are below the idle timeout, so each upload gets a reply. */
const limits = {
  permits: 1,
  maxWaiting: 1000,
  maxWaitMs: 10_000,
  fullMessage: "Too many pictures are being processed.",
};
const uploads = new Semaphore(limits);
/** Scaling has a permit of its own, so that viewers do not wait for uploads. */
const widths = new Semaphore(limits);

/**
 * Encodes an upload as it is stored; of an animation, only the first frame.
 * @param party the id of the store: stores take turns.
 * @throws unsupportedMediaType; validationFailed if the upload is too large, damaged or takes too long; unavailable.
 */
export function readPicture(upload: Uint8Array, party: string): Promise<Picture> {
  return uploads.run(async () => {
    await checkPicture(upload);
    return decodeApart(upload).catch((error) => {
      throw error instanceof AppError ? error : damaged(error);
    });
  }, party);
}

/** Checks an upload without decoding it: format, size, scans. Errors: as `readPicture`. */
export async function checkPicture(upload: Uint8Array): Promise<void> {
  const { width, height, format } = await headerOf(upload);
  if (!formats.includes(format)) throw notPicture();
  if (width * height > maxPixels || Math.max(width, height) > maxDecodedSide) throw tooManyPixels();
  if (format !== "jpeg") return;
  const { scans, isWhole } = readJpeg(upload);
  if (!isWhole) throw damaged();
  if (scans > maxScans || scans * width * height > maxScannedPixels) {
    throw invalidField("file", "has too many scans. Save it again with fewer, or as a PNG");
  }
}

/** Scales a stored picture down. To save memory, calls `read` only when a permit is free. Errors: unavailable. */
export async function scalePicture(read: () => Promise<Uint8Array>, width: number, party: string): Promise<Uint8Array> {
  // Only the width is limited, because a narrow picture can be high.
  return (await widths.run(async () => encodePicture(await read(), width, maxDecodedSide), party)).bytes;
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

/** Counts the scans of a JPEG, up to one more than allowed. `isWhole` is false if the end marker is missing. */
function readJpeg(bytes: Uint8Array): { scans: number; isWhole: boolean } {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 2;
  // Skips the segments before the first scan, because they can contain a preview, which has markers, too.
  while (at + 4 <= file.length && file.readUInt16BE(at) !== 0xffda) {
    at += file.readUInt16BE(at) === 0xffff ? 1 : 2 + file.readUInt16BE(at + 2);
  }
  const isWhole = file.indexOf("\xff\xd9", at, "latin1") !== -1;
  let scans = 0;
  for (; at !== -1 && scans <= maxScans; scans++) at = file.indexOf("\xff\xda", at + 1, "latin1");
  return { scans, isWhole };
}

function notPicture(cause?: unknown) {
  const remedy = "Send a JPEG, PNG, WebP or GIF.";
  return unsupportedMediaType("The file is not a picture of a supported format.", { cause, remedy });
}

function tooManyPixels() {
  return invalidField("file", `must have at most ${maxPixels / 1e6} million pixels, and ${maxDecodedSide} on a side`);
}

function damaged(cause?: unknown) {
  return validationFailed([{ field: "file", message: "is damaged or cut off" }], { cause });
}

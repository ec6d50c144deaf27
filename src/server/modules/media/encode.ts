/** A picture as it is stored: WebP without metadata, upright, with both sides of at most 2560 pixels. */
export interface Picture {
  bytes: Uint8Array;
  width: number;
  height: number;
}

/** Maximum pixels of a file that is decoded; each takes four bytes of memory. */
export const maxPixels = 40_000_000;
/** Colour profiles of cameras and screens are shorter. A longer one would be stored in every width. */
const maxProfileBytes = 16 * 1024;

export async function encodePicture(bytes: Uint8Array, width: number, height = width): Promise<Picture> {
  const image = new Bun.Image(bytes, { maxPixels })
    .resize(width, height, { fit: "inside", withoutEnlargement: true })
    .webp({ quality: 85 });
  const encoded = withoutLongProfile(await image.buffer());
  return { bytes: encoded, width: image.width, height: image.height };
}

/** Removes a long colour profile, which could hide anything. It follows the extended header. */
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

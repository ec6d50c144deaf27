import { resolve } from "node:path";
import type { Ctx } from "../../../context.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { AppError, errnoOf, notFound, validationFailed } from "../../../errors.ts";
import { formatBytes } from "../../../values/units.ts";
import type { Media } from "../../media/model.ts";
import { checkPicture, maxUploadBytes } from "../../media/picture.ts";
import { addPicture } from "../../media/service.ts";
import { type ImportItem, isObject } from "../transfer/import-item.ts";
import { getVariant, patchVariant } from "../variants/variants.ts";
import type { Image, ImageInput } from "./images.ts";
import { getProduct, patchProduct } from "./service.ts";
import type { StockItem } from "./stock.ts";

export async function listPictures(ctx: Ctx, { productId, variantId }: StockItem): Promise<Image[]> {
  const read = variantId === null ? getProduct(ctx, productId) : getVariant(ctx, { productId, variantId });
  return (JSON.parse((await read).json) as { images: Image[] }).images;
}

function changePictures(ctx: Ctx, item: StockItem, change: (images: Image[]) => ImageInput[]): Promise<Image[]> {
  const { productId, variantId } = item;
  return inTransaction(ctx, async (tx) => {
    const before = await listPictures(tx, item);
    const images = change(before);
    if (images.length === before.length) return before;
    if (variantId !== null) await patchVariant(tx, { productId, variantId }, { images }, null);
    else await patchProduct(tx, productId, { images }, { ifMatch: null });
    return listPictures(tx, item);
  });
}

/** Stores picture files, and adds those that the item does not have. Errors: as `addPicture`; validationFailed. */
export async function addPictures(ctx: Ctx, item: StockItem, paths: readonly string[], alt = ""): Promise<Image[]> {
  const stored: Media[] = [];
  for (const path of paths) stored.push(await addPicture(ctx, await readPictureFile(path)));
  return changePictures(ctx, item, (images) => {
    const known = new Set(images.map((image) => image.media_id));
    return [...images, ...stored.filter(({ id }) => !known.has(id)).map(({ id }) => ({ media_id: id, alt }))];
  });
}

export function removePictures(ctx: Ctx, item: StockItem, names: readonly string[]): Promise<Image[]> {
  return changePictures(ctx, item, (images) => {
    const isNamed = (image: Image, name: string) => image.media_id === name || image.url === name;
    const missing = names.find((name) => !images.some((image) => isNamed(image, name)));
    if (missing !== undefined) throw notFound("picture", missing);
    return images.filter((image) => !names.some((name) => isNamed(image, name)));
  });
}

async function readPictureFile(path: string): Promise<Uint8Array> {
  const file = Bun.file(path);
  if (file.size > maxUploadBytes) throw validationFailed(`${path} is larger than ${formatBytes(maxUploadBytes)}.`);
  return file.bytes().catch((cause) => {
    throw validationFailed(`${path} cannot be read (${errnoOf(cause)}).`, { cause });
  });
}

type Storing = { folder: string; isDryRun: boolean };

/** Stores the picture files that imported items name, relative to `folder`. A dry run only checks the files. */
export async function* storePictures(ctx: Ctx, items: AsyncIterable<ImportItem>, storing: Storing) {
  for await (const item of items) {
    const { line, document, variants, faults, isCsv } = item;
    const parts = [{ line, document, prefix: "" }, ...variants.map((one) => ({ ...one, prefix: "variant_" }))];
    for (const part of faults.length > 0 ? [] : parts) {
      const field = isCsv ? `${part.prefix}images` : "images";
      const messages = await storeImages(ctx, part.document.images, storing);
      faults.push(...messages.map((message) => ({ line: part.line, field, message })));
    }
    yield item;
  }
}

async function storeImages(ctx: Ctx, images: unknown, { folder, isDryRun }: Storing): Promise<string[]> {
  const faults: string[] = [];
  if (!Array.isArray(images)) return faults;
  for (const [index, image] of images.entries()) {
    if (!isPath(image)) continue;
    const { url, ...rest } = image;
    try {
      const bytes = await readPictureFile(resolve(folder, url));
      if (isDryRun) await checkPicture(bytes);
      // In a dry run, an address stands for the file that would be stored.
      const stored = isDryRun
        ? { url: "https://not-stored.invalid/" }
        : { media_id: (await addPicture(ctx, bytes)).id };
      images[index] = { ...rest, ...stored };
    } catch (error) {
      if (!(error instanceof AppError) || error.kind === "unavailable") throw error;
      faults.push(`${url}: ${error.details?.[0]?.message ?? error.message}`);
    }
  }
  return faults;
}

function isPath(image: unknown): image is { url: string } {
  if (!isObject(image) || typeof image.url !== "string" || image.url === "") return false;
  return image.media_id === undefined && !/^[a-z][a-z0-9+.-]*:|\0/i.test(image.url);
}

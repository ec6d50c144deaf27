import { readdir } from "node:fs/promises";
import { basename, extname, join, relative, resolve } from "node:path";
import type { Ctx } from "../../../context.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { AppError, errnoOf, notFound, validationFailed } from "../../../errors.ts";
import { formatBytes } from "../../../values/bytes.ts";
import type { Media } from "../../media/model.ts";
import { maxUploadBytes } from "../../media/picture.ts";
import { addPicture } from "../../media/service.ts";
import { getVariant, patchVariant } from "../variants/variants.ts";
import type { Image, ImageInput } from "./image-model.ts";
import { resolveStockItem } from "./resolve.ts";
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

/** Stores files, and adds the pictures that the item does not have yet. Errors: those of files and uploads. */
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

export async function readPictureFile(path: string): Promise<Uint8Array> {
  const file = Bun.file(path);
  if (file.size > maxUploadBytes) throw validationFailed(`${path} is larger than ${formatBytes(maxUploadBytes)}.`);
  return file.bytes().catch((cause) => {
    throw validationFailed(`${path} cannot be read (${errnoOf(cause)}).`, { cause });
  });
}

const types = [".jpg", ".jpeg", ".png", ".webp", ".gif"];

/** Adds `MUG-1.jpg`, `MUG-1_2.jpg` and `MUG-1/any.jpg` to the item with the SKU MUG-1. Errors: validationFailed. */
export async function importPictures(ctx: Ctx, folder: string, onFile: (done: number, total: number) => void) {
  const paths = await listFiles(folder);
  const errors: { file: string; message: string }[] = [];
  const items = new Map<string, StockItem>();
  for (const [index, path] of paths.entries()) {
    onFile(index, paths.length);
    try {
      const item = await findItem(ctx, folder, path);
      await addPictures(ctx, item, [path]);
      items.set(item.variantId ?? item.productId, item);
    } catch (error) {
      if (!(error instanceof AppError) || error.kind === "unavailable") throw error;
      const message = error.details?.[0] ? `The picture ${error.details[0].message}.` : error.message;
      errors.push({ file: relative(folder, path), message });
    }
  }
  return { products: items.size, files: paths.length - errors.length, errors };
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch((cause) => {
    throw validationFailed(`${folder} cannot be read (${errnoOf(cause)}).`, { cause });
  });
  const { compare } = new Intl.Collator("en", { numeric: true });
  return entries
    .filter((entry) => entry.isFile() && types.includes(extname(entry.name).toLowerCase()))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted(compare);
}

/** Finds the item by SKU: the name of the file's folder, or the file's name without a number. Errors: notFound. */
function findItem(ctx: Ctx, folder: string, path: string): Promise<StockItem> {
  const parent = resolve(path, "..");
  if (parent !== resolve(folder)) return resolveStockItem(ctx, basename(parent));
  const name = basename(path, extname(path));
  return resolveStockItem(ctx, name).catch((error) => {
    const sku = name.replace(/[-_ ]\d{1,3}$/, "");
    if (sku === name || !(error instanceof AppError && error.kind === "notFound")) throw error;
    return resolveStockItem(ctx, sku);
  });
}

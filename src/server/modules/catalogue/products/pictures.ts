import type { Ctx } from "../../../context.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { errnoOf, notFound, validationFailed } from "../../../errors.ts";
import { formatBytes } from "../../../values/units.ts";
import type { Media } from "../../media/model.ts";
import { maxUploadBytes } from "../../media/picture.ts";
import { addPicture } from "../../media/service.ts";
import { getVariant, patchVariant } from "../variants/variants.ts";
import type { Image, ImageInput } from "./image-model.ts";
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

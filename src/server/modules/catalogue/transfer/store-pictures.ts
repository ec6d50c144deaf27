import { resolve } from "node:path";
import type { Ctx } from "../../../context.ts";
import { AppError } from "../../../errors.ts";
import { checkPicture } from "../../media/picture.ts";
import { addPicture } from "../../media/service.ts";
import { readPictureFile } from "../products/pictures.ts";
import { type Fields, isObject } from "./import-changes.ts";
import type { ImportItem } from "./import-item.ts";

interface StoreOptions {
  folder: string;
  isDryRun: boolean;
}

/** Stores files before the transaction. Paths are relative to `folder`; a dry run only checks. */
export async function* storePictures(
  ctx: Ctx,
  items: AsyncIterable<ImportItem>,
  options: StoreOptions,
): AsyncGenerator<ImportItem> {
  for await (const item of items) {
    const { line, document, variants, faults, isCsv } = item;
    const parts = [{ line, document, prefix: "" }, ...variants.map((one) => ({ ...one, prefix: "variant_" }))];
    for (const part of faults.length > 0 ? [] : parts) {
      const field = isCsv ? `${part.prefix}images` : "images";
      const messages = await storeImages(ctx, part.document, options);
      faults.push(...messages.map((message) => ({ line: part.line, field, message })));
    }
    yield item;
  }
}

/** Replaces the paths in the images of a document by stored pictures. Returns the errors of files. */
async function storeImages(ctx: Ctx, document: Fields, options: StoreOptions): Promise<string[]> {
  if (!Array.isArray(document.images)) return [];
  const images: unknown[] = [];
  const faults: string[] = [];
  for (const image of document.images) {
    const path = pathOf(image);
    const { url: _, ...rest } = isObject(image) ? image : {};
    try {
      images.push(path === undefined ? image : { ...rest, ...(await storeFile(ctx, path, options)) });
    } catch (error) {
      if (!(error instanceof AppError) || error.kind === "unavailable") throw error;
      faults.push(`${path}: ${error.details?.[0]?.message ?? error.message}`);
    }
  }
  document.images = images;
  return faults;
}

async function storeFile(ctx: Ctx, path: string, { folder, isDryRun }: StoreOptions): Promise<Fields> {
  const file = resolve(folder, path);
  const bytes = await readPictureFile(file);
  if (!isDryRun) return { media_id: (await addPicture(ctx, bytes)).id };
  await checkPicture(bytes);
  return { url: `https://not-stored.invalid/${encodeURIComponent(file)}` };
}

function pathOf(image: unknown): string | undefined {
  if (!isObject(image) || typeof image.url !== "string" || image.url === "" || image.media_id !== undefined)
    return undefined;
  return /^[a-z][a-z0-9+.-]*:/i.test(image.url) || image.url.includes("\0") ? undefined : image.url;
}

import { resolve } from "node:path";
import type { Ctx } from "../../../context.ts";
import { AppError } from "../../../errors.ts";
import { checkPicture } from "../../media/picture.ts";
import { addPicture } from "../../media/service.ts";
import { readPictureFile } from "../products/pictures.ts";
import { type Fields, isObject } from "./import-changes.ts";
import type { ImportItem } from "./import-item.ts";

/** Stores files before the transaction. Paths are relative to `folder`; a dry run only checks. */
export async function* storePictures(
  ctx: Ctx,
  items: AsyncIterable<ImportItem>,
  { folder, isDryRun }: { folder: string; isDryRun: boolean },
): AsyncGenerator<ImportItem> {
  const store = async (path: string): Promise<Fields> => {
    const bytes = await readPictureFile(path);
    if (!isDryRun) return { media_id: (await addPicture(ctx, bytes)).id };
    await checkPicture(bytes);
    return { url: `https://not-stored.invalid/${encodeURIComponent(path)}` };
  };
  for await (const item of items) {
    const parts = [{ line: item.line, document: item.document, prefix: "" }];
    for (const variant of item.variants) parts.push({ ...variant, prefix: "variant_" });
    for (const { line, document, prefix } of item.faults.length > 0 ? [] : parts) {
      if (!Array.isArray(document.images)) continue;
      const images: unknown[] = [];
      for (const image of document.images) {
        const path = pathOf(image);
        const { url: _, ...rest } = isObject(image) ? image : {};
        try {
          images.push(path === undefined ? image : { ...rest, ...(await store(resolve(folder, path))) });
        } catch (error) {
          if (!(error instanceof AppError) || error.kind === "unavailable") throw error;
          const message = `${path}: ${error.details?.[0]?.message ?? error.message}`;
          item.faults.push({ line, field: item.isCsv ? `${prefix}images` : "images", message });
        }
      }
      document.images = images;
    }
    yield item;
  }
}

function pathOf(image: unknown): string | undefined {
  if (!isObject(image) || typeof image.url !== "string" || image.url === "" || image.media_id !== undefined)
    return undefined;
  return /^[a-z][a-z0-9+.-]*:/i.test(image.url) || image.url.includes("\0") ? undefined : image.url;
}

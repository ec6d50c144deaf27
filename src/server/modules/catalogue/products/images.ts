import { type Placeholder, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { param } from "../../../db/statement.ts";
import { invalidField } from "../../../errors.ts";
import { requireSafeText } from "../../../values/fields.ts";
import { isId } from "../../../values/stamps.ts";
import { pictureUrl } from "../../media/model.ts";
import { media } from "../../media/table.ts";
import type { ImageInput } from "./image-model.ts";

export const unknownPicture = "contains the media_id of a picture that this store does not have";

/** Returns the stored JSON of pictures, in order. `field` names them in errors. Errors: validationFailed. */
export function imagesText(ctx: Ctx, images: readonly ImageInput[], field: string): string {
  const placed = images.map((image, index) => ({
    place: image.position ?? index,
    image: {
      ...source(ctx, image, `${field}.${index}`),
      alt: requireSafeText(`${field}.${index}.alt`, image.alt ?? ""),
    },
  }));
  const inOrder = placed.toSorted((a, b) => a.place - b.place);
  return JSON.stringify(inOrder.map(({ image }, position) => ({ ...image, position })));
}

/** SQL for the stored JSON of pictures, with the sizes of uploaded ones; `images` is the text of `imagesText`. */
export function withSizes(images: SQL | Placeholder): SQL {
  return sql`case when instr(${images}, '"media_id"') then (
    select json_group_array(json_patch(i.value, coalesce((select json_object('width', width, 'height', height)
      from ${media} where id = i.value ->> 'media_id' and tenant_id = ${param("tenantId")}), '{}')))
    from json_each(${images}) i) else ${images} end`;
}

function source(ctx: Ctx, { media_id: id, url }: ImageInput, field: string): { media_id?: string; url: string } {
  if (id !== undefined) {
    if (!isId("med", id)) throw invalidField(`${field}.media_id`, "is not the id of a picture");
    return { media_id: id, url: pictureUrl(ctx.tenant.namespace, id) };
  }
  if (url === undefined) throw invalidField(`${field}.url`, "is required without a media_id");
  requireSafeText(`${field}.url`, url);
  if (URL.canParse(url) && /^https?:/i.test(url)) return { url };
  throw invalidField(`${field}.url`, "must be an http or https address");
}

import { type Static, Type } from "@sinclair/typebox";
import { type Placeholder, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { param } from "../../../db/statement.ts";
import { invalidField } from "../../../errors.ts";
import { requireSafeText } from "../../../values/fields.ts";
import { input, output, text, textUpTo, whole } from "../../../values/schema.ts";
import { isId } from "../../../values/stamps.ts";
import { pictureUrl } from "../../media/model.ts";
import { media } from "../../media/table.ts";

const alt = textUpTo(500, "Text for people who cannot see the picture.");
const mediaId = Type.String({ description: "`med_…` of an uploaded picture." });

export const ImageInput = input("ImageInput", {
  media_id: Type.Optional(mediaId),
  url: Type.Optional(
    text(2048, "An http or https address. Ignored if `media_id` is sent.", { expects: "an http or https address" }),
  ),
  alt: Type.Optional(alt),
  position: Type.Optional(whole(0, 1_000_000, "Position among the pictures. Default: the position in the list.")),
  width: Type.Optional(whole(1, 16_383, "Ignored. Accepted because replies have this field.")),
  height: Type.Optional(whole(1, 16_383, "Ignored.")),
});
export type ImageInput = Static<typeof ImageInput>;

export type Image = Static<typeof Image>;
export const Image = output("Image", {
  media_id: Type.Optional(mediaId),
  url: Type.String({
    description:
      "Address of the picture. If the server has no public URL, an uploaded picture has only a path. For another width, replace `original`.",
  }),
  alt,
  position: Type.Integer({ minimum: 0 }),
  width: Type.Optional(Type.Integer({ minimum: 1, description: "Width of an uploaded picture, in pixels." })),
  height: Type.Optional(Type.Integer({ minimum: 1 })),
});

export const unknownPicture = "contains the media_id of a picture that this store does not have";

/** Returns the JSON of pictures for the database, sorted by position. `field` is their name in errors. */
export function imagesText(ctx: Ctx, images: readonly ImageInput[], field: string): string {
  const placed = images.map((image, index) => ({
    place: image.position ?? index,
    image: checkImage(ctx, image, `${field}.${index}`),
  }));
  const inOrder = placed.toSorted((a, b) => a.place - b.place);
  return JSON.stringify(inOrder.map(({ image }, position) => ({ ...image, position })));
}

/** SQL for the stored JSON of pictures, with the sizes of uploads. `images` is the text that `imagesText` returned. */
export function withSizes(images: SQL | Placeholder): SQL {
  return sql`case when instr(${images}, '"media_id"') then (
    select json_group_array(json_patch(i.value, coalesce((select json_object('width', width, 'height', height)
      from ${media} where id = i.value ->> 'media_id' and tenant_id = ${param("tenantId")}), '{}')))
    from json_each(${images}) i) else ${images} end`;
}

function checkImage(ctx: Ctx, { media_id: id, url, alt = "" }: ImageInput, field: string) {
  requireSafeText(`${field}.alt`, alt);
  if (id !== undefined) {
    if (!isId("med", id)) throw invalidField(`${field}.media_id`, "is not the id of a picture");
    return { media_id: id, url: pictureUrl(ctx.tenant.namespace, id), alt };
  }
  if (url === undefined) throw invalidField(`${field}.url`, "is required without a media_id");
  requireSafeText(`${field}.url`, url);
  if (URL.canParse(url) && /^https?:/i.test(url)) return { url, alt };
  throw invalidField(`${field}.url`, "must be an http or https address");
}

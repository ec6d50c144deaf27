import { type Static, Type } from "@sinclair/typebox";
import { closed } from "../../values/schema.ts";

const alt = Type.String({ maxLength: 500, description: "Text for people who cannot see the picture." });
const mediaId = Type.String({ description: "`med_…` of an uploaded picture." });

/** A picture of a product or variant: an uploaded one, or an address elsewhere. */
export const ImageInput = closed({
  media_id: Type.Optional(mediaId),
  url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      expects: "an http or https address",
      description: "An http or https address; ignored beside a `media_id`.",
    }),
  ),
  alt: Type.Optional(alt),
  position: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description: "Place among the pictures. Default: that in the list.",
    }),
  ),
});
export type ImageInput = Static<typeof ImageInput>;

export type Image = Static<typeof Image>;
export const Image = Type.Object({
  media_id: Type.Optional(mediaId),
  url: Type.String({
    description: "Of an uploaded picture, a path of this server, in which `original` can be replaced by a width.",
  }),
  alt,
  position: Type.Integer({ minimum: 0 }),
});

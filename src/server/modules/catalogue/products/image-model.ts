import { type Static, Type } from "@sinclair/typebox";
import { input, output, text, textUpTo, whole } from "../../../values/schema.ts";

const alt = textUpTo(500, "Text for people who cannot see the picture.");
const mediaId = Type.String({ description: "`med_…` of an uploaded picture." });

export const ImageInput = input("ImageInput", {
  media_id: Type.Optional(mediaId),
  url: Type.Optional(
    text(2048, "An http or https address; ignored beside a `media_id`.", { expects: "an http or https address" }),
  ),
  alt: Type.Optional(alt),
  position: Type.Optional(whole(0, 1_000_000, "Place among the pictures. Default: that in the list.")),
  width: Type.Optional(whole(1, 16_383, "Ignored, so that the pictures of a reply can be sent.")),
  height: Type.Optional(whole(1, 16_383, "Ignored.")),
});
export type ImageInput = Static<typeof ImageInput>;

export type Image = Static<typeof Image>;
export const Image = output("Image", {
  media_id: Type.Optional(mediaId),
  url: Type.String({
    description:
      "Of an uploaded picture, its address, or its path on a server without a public URL; `original` can be replaced by a width.",
  }),
  alt,
  position: Type.Integer({ minimum: 0 }),
  width: Type.Optional(Type.Integer({ minimum: 1, description: "Of the original of an uploaded picture, in pixels." })),
  height: Type.Optional(Type.Integer({ minimum: 1 })),
});

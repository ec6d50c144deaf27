import { type Static, Type } from "@sinclair/typebox";
import { oneOf, output, timestamp } from "../../values/schema.ts";

export const widths = [320, 640, 1280, 2560] as const;

export const Media = output("Media", {
  id: Type.String({ description: "`med_…`, the `media_id` of a picture of a product or variant." }),
  url: Type.String({
    description:
      "Address of the picture, or its path on a server without a public URL. It needs no credentials. For another width, replace `original` by 320, 640, 1280 or 2560.",
  }),
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  bytes: Type.Integer({ minimum: 1, description: "Size of the stored picture, which counts towards the quota." }),
  created_at: timestamp,
});
export type Media = Static<typeof Media>;

const files = ["original.webp", ...widths.map((width) => `${width}.webp` as const)] as const;
export const FileParams = Type.Object({
  id: Type.String(),
  file: oneOf(files, { description: "Width in pixels. A narrower picture is not enlarged." }),
});

export function pictureUrl(namespace: string, id: string): string {
  return `/media/${id}/original.webp?namespace=${namespace}`;
}

/** Matches the JSON members with id and path of a picture, up to the quotation mark before the path. */
const ofUploaded = /"(?:media_)?id":"(med_\w+)","url":"(?=\/media\/\1\/)/g;

/** Puts the server's public URL, if it has one, before the paths of pictures in the JSON text of a reply. */
export function withPublicUrls(json: string, publicUrl = ""): string {
  return publicUrl === "" ? json : json.replace(ofUploaded, (before) => before + publicUrl);
}

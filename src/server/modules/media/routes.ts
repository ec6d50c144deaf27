import { Type } from "@sinclair/typebox";
import { app, defineRoute, publicAccess, reply, replyFile, staff } from "../../http/route.ts";
import { FileParams, Media } from "./model.ts";
import { maxUploadBytes } from "./picture.ts";
import { getPicture, readUpload, storePicture } from "./service.ts";

const tag = "Media";

export const mediaRoutes = [
  defineRoute("POST", "/media/", "uploadMedia", {
    tag,
    access: [app("media:write"), staff],
    summary: "Upload a picture",
    upload: { types: ["image/jpeg", "image/png", "image/webp", "image/gif"], bytes: maxUploadBytes },
    reply: { status: 201, data: Media, existing: "The store already has this file." },
    errors: ["wrongState"],
    prepare: ({ ctx, body }) => readUpload(ctx, body as Uint8Array),
    async handle({ ctx }, read) {
      const { media, isNew } = await storePicture(ctx, read);
      return reply(media, { status: isNew ? 201 : 200 });
    },
  }),
  defineRoute("GET", "/media/:id/:file", "getMedia", {
    tag,
    access: [publicAccess],
    summary: "Get a picture",
    params: FileParams,
    reply: { data: Type.Any(), type: "image/webp" },
    handle: async ({ ctx, params: { id, file } }) =>
      replyFile(await getPicture(ctx, id, Number.parseInt(file, 10) || 0), "image/webp"),
  }),
];

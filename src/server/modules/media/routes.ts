import { Type } from "@sinclair/typebox";
import { anyone, app, staff } from "../../http/access.ts";
import { reply, replyDeleted, replyFile } from "../../http/envelope.ts";
import { defineRoute } from "../../http/route.ts";
import { IdParams } from "../../values/schema.ts";
import { DeletedMedia, FileParams, Media } from "./model.ts";
import { maxUploadBytes } from "./picture.ts";
import { deletePicture, getPicture, readUpload, storePicture } from "./service.ts";

const tag = "Media";
const write = { tag, access: [app("media:write"), staff] } as const;

export const mediaRoutes = [
  defineRoute("POST", "/media/", "uploadMedia", {
    ...write,
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
    access: [anyone],
    summary: "Get a picture",
    params: FileParams,
    reply: { data: Type.Any(), type: "image/webp" },
    errors: ["notFound"],
    handle: async ({ ctx, params: { id, file } }) =>
      replyFile(await getPicture(ctx, id, Number.parseInt(file, 10) || 0), "image/webp"),
  }),
  defineRoute("DELETE", "/media/:id/", "deleteMedia", {
    ...write,
    summary: "Delete a picture that nothing shows",
    params: IdParams,
    reply: { data: DeletedMedia },
    errors: ["notFound", "wrongState"],
    handle: ({ ctx, params: { id } }) => replyDeleted(id, deletePicture(ctx, id)),
  }),
];

import { and, lte, sql } from "drizzle-orm";
import type { Config } from "../../config/config.ts";
import type { Ctx, MediaStore, WorkCtx } from "../../context.ts";
import { pickStored } from "../../db/selection.ts";
import { all, bind, byId, equals, get, ofStore, param, rowsOf, run, statement } from "../../db/statement.ts";
import { notFound, unavailable, wrongState } from "../../errors.ts";
import { openBoundedStorage } from "../../object-store/open-storage.ts";
import { isId, newId, toTimestamp } from "../../values/stamps.ts";
import { formatBytes } from "../../values/units.ts";
import { tenants } from "../tenants/table.ts";
import type { Picture } from "./decoder.ts";
import { type Media, pictureUrl, widths } from "./model.ts";
import { readPicture, scalePicture } from "./picture.ts";
import { media, mediaBlobs, mediaTrash } from "./table.ts";

/** Opens the bucket for new pictures. Returns undefined if the database stores them. */
export function openMediaBucket({ media, s3 }: Pick<Config, "media" | "s3">): MediaStore | undefined {
  return media === undefined ? undefined : openBoundedStorage(media, { s3 }, "pictures");
}

/** A file of a picture. Width 0 is the picture as it was stored; other widths are made from it. */
interface PictureFile {
  id: string;
  width: number;
  inS3: boolean;
}

/** Removed pictures stay in S3 this long, because a restored backup may need them. */
export const keptInS3Ms = 35 * 86_400_000;

const isFile = and(ofStore(mediaBlobs), equals(mediaBlobs.mediaId, "id"), equals(mediaBlobs.width, "width"));
const selectBytes = statement((q) => q.select({ bytes: mediaBlobs.bytes }).from(mediaBlobs).where(isFile));
const insertBytes = statement(sql`
  insert into ${mediaBlobs} (tenant_id, media_id, width, bytes)
  select tenant_id, id, ${param("width")}, ${param("bytes")} from ${media}
  where id = ${param("id")} and tenant_id = ${param("tenantId")} and not in_s3
  on conflict (media_id, width) do nothing`);
const { folder, removedAt } = mediaTrash;
const isOld = lte(removedAt, param("before"));
const selectTrash = statement((q) => q.select({ folder }).from(mediaTrash).where(isOld).limit(100));
const emptyTrash = statement(sql`
  delete from ${mediaTrash} where folder in (select value from json_each(${param("folders")}))`);

async function readFile(ctx: Ctx, { id, width, inS3 }: PictureFile): Promise<Uint8Array | undefined> {
  if (inS3) return bucketOf(ctx).get(nameOf(`${ctx.tenant.id}/${id}`, width));
  return (await get(ctx.db, selectBytes, { tenantId: ctx.tenant.id, id, width }))?.bytes;
}

async function writeFile(ctx: Ctx, { id, width, inS3 }: PictureFile, bytes: Uint8Array): Promise<void> {
  if (inS3) await bucketOf(ctx).put(nameOf(`${ctx.tenant.id}/${id}`, width), bytes);
  else await run(ctx.db, insertBytes, { tenantId: ctx.tenant.id, id, width, bytes });
}

/** Deletes from S3 the files of pictures that were removed more than 35 days ago. Returns the number of pictures. */
export async function purgeTrash({ db, now, media }: WorkCtx & { media?: MediaStore | undefined }): Promise<number> {
  if (media === undefined) return 0;
  const rows = await all(db, selectTrash, { before: toTimestamp(now() - keptInS3Ms) });
  for (const { folder } of rows) for (const width of [0, ...widths]) await media.remove(nameOf(folder, width));
  return run(db, emptyTrash, { folders: JSON.stringify(rows.map(({ folder }) => folder)) });
}

function nameOf(folder: string, width: number): string {
  return `${folder}/${width === 0 ? "original" : width}.webp`;
}

function bucketOf({ media }: Ctx): MediaStore {
  if (media !== undefined) return media;
  throw unavailable("The picture is in S3. Give BODEGA_MEDIA the value that it had when the picture was uploaded.");
}

export const unusedMs = 86_400_000;

const shown = pickStored(media, "id", "width", "height", "bytes", "createdAt");
const used = sql<number>`(select coalesce(sum(bytes), 0) from ${media} where tenant_id = ${param("tenantId")})`;
// A repeated upload keeps an unused picture for another day.
const set = { unusedSince: param("now") };
const isSource = and(ofStore(media), equals(media.sourceHash, "hash"));
const touchBySource = statement((q) => q.update(media).set(set).where(isSource).returning(shown));
// The values are in the order of the table's columns, because an `insert … select` matches them by position.
const newMedia = sql`select ${param("id")}, id, ${param("hash")}, ${param("width")}, ${param("height")}, ${param("size")},
  ${param("inS3")}, 0, ${param("now")}, ${param("now")}
  from ${tenants} where id = ${param("tenantId")} and ${used} + ${param("size")} <= media_quota`;
const target = [media.tenantId, media.sourceHash];
const insertMedia = statement((q) =>
  q.insert(media).select(newMedia).onConflictDoUpdate({ target, set }).returning(shown),
);
const usage = { used, quota: tenants.mediaQuota };
const selectUsage = statement((q) => q.select(usage).from(tenants).where(equals(tenants.id, "tenantId")));
const { width, inS3 } = media;
const selectFile = statement((q) => q.select({ width, inS3 }).from(media).where(byId(media)));
// Deletes only twenty pictures at a time, because SQLite reads every page of a deleted blob.
const removeOld = statement(sql`
  delete from ${media} where id in (
    select id from ${media} where uses = 0 and unused_since <= ${param("before")} limit 20)`);

type ReadUpload = { stored: Omit<Media, "url"> } | { id: string; hash: string; picture: Picture };

/** Decodes an upload that the store does not have, and writes it to S3 if configured. Errors: as `readPicture`. */
export async function readUpload(ctx: Ctx, upload: Uint8Array): Promise<ReadUpload> {
  const hash = new Bun.CryptoHasher("sha256").update(upload).digest("hex");
  const tenantId = ctx.tenant.id;
  const stored = await get(ctx.db, touchBySource, { tenantId, hash, now: toTimestamp(ctx.now()) });
  if (stored) return { stored };
  await requireSpace(ctx, 1);
  const picture = await readPicture(upload, tenantId);
  await requireSpace(ctx, picture.bytes.length);
  const id = newId("med");
  if (ctx.media) await writeFile(ctx, { id, width: 0, inS3: true }, picture.bytes);
  return { id, hash, picture };
}

/** Stores a picture, unless the store already has it. Errors: wrongState if the quota is used up. */
export async function storePicture(ctx: Ctx, read: ReadUpload): Promise<{ media: Media; isNew: boolean }> {
  const { id, ...row } = "stored" in read ? read.stored : await insert(ctx, read);
  const isNew = "id" in read && read.id === id;
  return { media: { id, url: pictureUrl(ctx.tenant.namespace, id), ...row }, isNew };
}

async function insert(ctx: Ctx, { id, hash, picture }: Extract<ReadUpload, { id: string }>) {
  const { bytes, width, height } = picture;
  const key = { tenantId: ctx.tenant.id, id };
  const now = toTimestamp(ctx.now());
  const row = { ...key, hash, width, height, size: bytes.length, inS3: ctx.media ? 1 : 0, now };
  const statements = [bind(insertMedia, row)];
  if (!ctx.media) statements.push(bind(insertBytes, { ...key, width: 0, bytes }));
  const [inserted] = await ctx.db.batch(statements);
  const [stored] = rowsOf(insertMedia, inserted);
  if (stored) return stored;
  await requireSpace(ctx, bytes.length);
  throw unavailable();
}

export async function addPicture(ctx: Ctx, upload: Uint8Array): Promise<Media> {
  return (await storePicture(ctx, await readUpload(ctx, upload))).media;
}

async function requireSpace(ctx: Ctx, bytes: number): Promise<void> {
  const { used = 0, quota = 0 } = (await get(ctx.db, selectUsage, { tenantId: ctx.tenant.id })) ?? {};
  if (used + bytes <= quota) return;
  throw wrongState(`The store's pictures use ${formatBytes(used)} of ${formatBytes(quota)}.`, {
    remedy: "Remove pictures from products: unused ones are deleted after a day. Or ask the operator for more space.",
  });
}

/** Widths that are being made. Concurrent first viewers of a width wait for the same promise. */
const inWork = new Map<string, Promise<Uint8Array>>();

/** Returns a picture as WebP with at most this width; 0 is the stored picture. Errors: notFound, unavailable. */
export async function getPicture(ctx: Ctx, id: string, width: number): Promise<Uint8Array> {
  const row = isId("med", id) ? await get(ctx.db, selectFile, { tenantId: ctx.tenant.id, id }) : undefined;
  if (!row) throw notFound("picture", id);
  const file = { id, width: width < row.width ? width : 0, inS3: row.inS3 };
  const bytes = await readFile(ctx, file);
  if (bytes) return bytes;
  const key = `${id} ${file.width}`;
  const made = inWork.get(key) ?? makeWidth(ctx, file).finally(() => inWork.delete(key));
  inWork.set(key, made);
  return made;
}

async function makeWidth(ctx: Ctx, file: PictureFile): Promise<Uint8Array> {
  if (file.width === 0) throw notFound("picture", file.id);
  const readOriginal = async () => {
    const original = await readFile(ctx, { ...file, width: 0 });
    if (!original) throw notFound("picture", file.id);
    return original;
  };
  const scaled = await scalePicture(readOriginal, file.width, ctx.tenant.id);
  await writeFile(ctx, file, scaled);
  return scaled;
}

/** Deletes up to twenty pictures that nothing has used for a day. Returns the number of pictures. */
export function purgePictures(ctx: WorkCtx): Promise<number> {
  return run(ctx.db, removeOld, { before: toTimestamp(ctx.now() - unusedMs) });
}

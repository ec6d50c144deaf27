import { sql } from "drizzle-orm";
import type { Ctx, MediaStore, WorkCtx } from "../../context.ts";
import { all, get, param, run, statement } from "../../db/statement.ts";
import { unavailable } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { widths } from "./model.ts";
import { media, mediaBlobs, mediaTrash } from "./table.ts";

/** The file of a picture: a width of it, or 0 for the picture as it is stored. */
export interface PictureFile {
  id: string;
  width: number;
  inS3: boolean;
}

/** For so long a removed picture stays in S3, so that a restored backup finds it. */
export const keptInS3Ms = 35 * 86_400_000;

const named = sql`media_id = ${param("id")} and tenant_id = ${param("tenantId")} and width = ${param("width")}`;
const selectBytes = statement<{ bytes: Uint8Array | ArrayBuffer }>(sql`select bytes from ${mediaBlobs} where ${named}`);
/** Writes the bytes of a picture, unless the picture was removed meanwhile. */
export const insertBytes = statement(sql`
  insert into ${mediaBlobs} (tenant_id, media_id, width, bytes)
  select tenant_id, id, ${param("width")}, ${param("bytes")} from ${media}
  where id = ${param("id")} and tenant_id = ${param("tenantId")} and not in_s3
  on conflict (media_id, width) do nothing`);
const selectTrash = statement<{ folder: string }>(sql`
  select folder from ${mediaTrash} where removed_at <= ${param("before")} limit 100`);
const emptyTrash = statement(sql`
  delete from ${mediaTrash} where folder in (select value from json_each(${param("folders")}))`);

/** The bytes of a file; undefined if there are none. Errors: unavailable when S3 cannot be read. */
export async function readFile(ctx: Ctx, { id, width, inS3 }: PictureFile): Promise<Uint8Array | undefined> {
  if (inS3) return bucketOf(ctx).get(nameOf(`${ctx.tenant.id}/${id}`, width));
  const row = await get(ctx.db, selectBytes, { tenantId: ctx.tenant.id, id, width });
  // A libSQL server's answer has ArrayBuffers.
  return row && new Uint8Array(row.bytes as Uint8Array);
}

/** Keeps a file. Errors: unavailable when S3 or the database cannot be written. */
export async function writeFile(ctx: Ctx, { id, width, inS3 }: PictureFile, bytes: Uint8Array): Promise<void> {
  if (inS3) await bucketOf(ctx).put(nameOf(`${ctx.tenant.id}/${id}`, width), bytes);
  else await run(ctx.db, insertBytes, { tenantId: ctx.tenant.id, id, width, bytes });
}

/** Removes the files of removed pictures from S3 once no backup should need them. Returns how many pictures' files. */
export async function purgeTrash({ db, now, media }: WorkCtx & { media?: MediaStore | undefined }): Promise<number> {
  if (media === undefined) return 0;
  const rows = await all(db, selectTrash, { before: toTimestamp(now() - keptInS3Ms) });
  for (const { folder } of rows) for (const width of [0, ...widths]) await media.remove(nameOf(folder, width));
  return run(db, emptyTrash, { folders: JSON.stringify(rows.map(({ folder }) => folder)) });
}

/** @param folder as the trigger that fills the trash names it. */
function nameOf(folder: string, width: number): string {
  return `${folder}/${width === 0 ? "original" : width}.webp`;
}

function bucketOf({ media }: Ctx): MediaStore {
  if (media !== undefined) return media;
  throw unavailable("The picture is in S3. Set BODEGA_MEDIA as it was when the picture was uploaded.");
}

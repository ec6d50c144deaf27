import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { decodeCursor } from "../../pagination/cursor.ts";
import { type ListPage, type PageRow, toListPage } from "../../pagination/list-page.ts";
import { defaultLimit, parseFields } from "../../pagination/list-query.ts";
import { languageChain } from "../products/translation.ts";
import { requireSubject } from "../users/subject.ts";
import { WishlistItem, type WishlistQuery } from "./model.ts";
import { itemJson, itemTables } from "./rendering.ts";
import { wishlistItems } from "./table.ts";

export const itemFields = Object.keys(WishlistItem.properties);
/** Sorts after every time and every id. */
const end = "~";

const own = sql`w.tenant_id = ${param("tenantId")} and w.user_id = ${param("userId")}`;
const page = sql`where ${own} and (w.created_at, w.id) < (${param("createdAt")}, ${param("id")})
  order by w.created_at desc, w.id desc`;
const selectPage = statement<PageRow>(sql`select
  (select group_concat(item) from (select ${itemJson} as item ${itemTables} ${page} limit ${param("limit")})) as json,
  (select json_array(created_at, id) from ${wishlistItems} w ${page} limit 1 offset ${param("lastIndex")}) as last,
  exists(select 1 from ${wishlistItems} w ${page} limit 1 offset ${param("limit")}) as has_more,
  case when ${param("isCounted")} = 1 then (select count(*) from ${wishlistItems} w where ${own}) end as total`);

/** A page of a user's wishlist, newest first. Errors: malformedRequest, validationFailed, notFound. */
export async function listWishlist(ctx: Ctx, query: WishlistQuery, subject?: string, lang?: string): Promise<ListPage> {
  const { limit = defaultLimit } = query;
  const fields = parseFields(query.fields, itemFields);
  const userId = await requireSubject(ctx, query.customer_id, subject);
  const asked = [ctx.tenant.id, "wishlist", userId];
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, asked);
  const row = await get(ctx.db, selectPage, {
    tenantId: ctx.tenant.id,
    userId,
    languages: languageChain(lang, ctx.tenant.language),
    createdAt: after?.value ?? end,
    id: after?.id ?? end,
    limit,
    lastIndex: limit - 1,
    isCounted: query.include_total ? 1 : 0,
  });
  return toListPage(row, { asked, limit, fields });
}

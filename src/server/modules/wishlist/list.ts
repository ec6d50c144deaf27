import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { keysetList } from "../../db/keyset-list.ts";
import { param } from "../../db/statement.ts";
import type { ListPage } from "../../pagination/list-page.ts";
import { moneyJson } from "../../values/money.ts";
import { products, productVariants } from "../products/table.ts";
import { languageChain, servedTitle } from "../products/translation.ts";
import { requireSubject } from "../users/guards.ts";
import { WishlistItem, type WishlistQuery } from "./model.ts";
import { wishlistItems } from "./table.ts";

/** Products that are not published appear as deleted on the list. */
export const itemTables = sql`from ${wishlistItems} w
  left join ${products} p on p.id = w.product_id and p.tenant_id = w.tenant_id and p.deleted_at is null
    and p.status = 'published'
  left join ${productVariants} v on v.id = w.variant_id and v.product_id = p.id and v.deleted_at is null`;

const product = sql`(select json_object('id', id, 'title', ${servedTitle}, 'slug', slug,
  'image', json_extract(images, '$[0].url')) from ${products} where id = p.id)`;
const price = "(case when w.variant_id is null then p.price_minor else v.price_minor end)";
// Without a chosen variant, the item is available if any variant is.
const available = sql`case
  when p.id is null or (w.variant_id is not null and v.id is null) then 0
  when p.allow_backorder then 1
  when v.id is not null then v.stock is null or v.stock - v.reserved > 0
  when p.has_variants then exists (select 1 from ${productVariants} o where o.product_id = p.id
    and o.deleted_at is null and (o.stock is null or o.stock - o.reserved > 0))
  else p.stock is null or p.stock - p.reserved > 0 end`;

/** SQL for an item as JSON text, for a select from `itemTables` with the parameter `languages`. */
export const itemJson = sql`json_object('id', w.id, 'product_id', w.product_id, 'variant_id', w.variant_id,
  'note', w.note, 'price_at_add', ${sql.raw(moneyJson("w.price_at_add_minor", "w.currency_digits"))},
  'price_at_add_minor', w.price_at_add_minor, 'currency', w.currency, 'product', json(${product}),
  'price', ${sql.raw(moneyJson(price, "p.currency_digits"))}, 'price_minor', ${sql.raw(price)},
  'available', json(case when ${available} then 'true' else 'false' end), 'version', w.version,
  'created_at', w.created_at, 'updated_at', w.updated_at)`;

export const itemFields = Object.keys(WishlistItem.properties);

const readPage = keysetList({
  name: "wishlist",
  fields: itemFields,
  json: itemJson,
  from: sql`from ${wishlistItems} w`,
  joined: itemTables,
  base: sql`w.tenant_id = ${param("tenantId")}`,
  conditions: { userId: sql`w.user_id = ${param("userId")}` },
  sorts: { created_at: sql`w.created_at` },
  id: sql`w.id`,
});

/** A page of a user's wishlist, newest first. Errors: malformedRequest, validationFailed, notFound. */
export async function listWishlist(ctx: Ctx, query: WishlistQuery, subject?: string, lang?: string): Promise<ListPage> {
  const userId = await requireSubject(ctx, query.customer_id, subject);
  const values = { languages: languageChain(lang, ctx.tenant.language) };
  return readPage(ctx, query, { filters: { userId }, values });
}

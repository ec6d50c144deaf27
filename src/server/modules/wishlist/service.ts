import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { keysetList } from "../../db/keyset-list.ts";
import { pickStored } from "../../db/selection.ts";
import { bind, get, isVersion, param, rowsOf, type Statement, statement } from "../../db/statement.ts";
import { type AppError, invalidField, notFound, preconditionFailed, wrongState } from "../../errors.ts";
import type { ListPage } from "../../pagination/list-page.ts";
import { checkNote } from "../../values/fields.ts";
import { moneyJson } from "../../values/money.ts";
import { isId, newId, toTimestamp } from "../../values/stamps.ts";
import { findProductId } from "../catalogue/products/resolve.ts";
import { notForSale } from "../catalogue/products/stock.ts";
import { products, productVariants } from "../catalogue/products/table.ts";
import { languageChain, localizedTitle } from "../catalogue/products/translation.ts";
import { requireSubject } from "../users/guards.ts";
import { users } from "../users/table.ts";
import { maxNote, WishlistItem, type WishlistQuery, type WishlistReplacement } from "./model.ts";
import { wishlistItems } from "./table.ts";

// An item whose product was deleted or unpublished stays on the list, without `product` and `price`.
const itemTables = sql`${wishlistItems} w
  left join ${products} p on p.id = w.product_id and p.tenant_id = w.tenant_id and p.deleted_at is null
    and p.status = 'published'
  left join ${productVariants} v on v.id = w.variant_id and v.product_id = p.id and v.deleted_at is null`;

const product = sql`(select json_object('id', id, 'title', ${localizedTitle}, 'slug', slug,
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

const itemJson = sql`json_object('id', w.id, 'product_id', w.product_id, 'variant_id', w.variant_id,
  'note', w.note, 'price_at_add', ${sql.raw(moneyJson("w.price_at_add_minor", "w.currency_digits"))},
  'price_at_add_minor', w.price_at_add_minor, 'currency', w.currency, 'product', json(${product}),
  'price', ${sql.raw(moneyJson(price, "p.currency_digits"))}, 'price_minor', ${sql.raw(price)},
  'available', json(case when ${available} then 'true' else 'false' end), 'version', w.version,
  'created_at', w.created_at, 'updated_at', w.updated_at)`;

const readPage = keysetList({
  name: "wishlist",
  fields: Object.keys(WishlistItem.properties),
  json: itemJson,
  from: sql`from ${wishlistItems} w`,
  joined: sql`from ${itemTables}`,
  base: sql`w.tenant_id = ${param("tenantId")}`,
  conditions: { userId: sql`w.user_id = ${param("userId")}` },
  sorts: { created_at: sql`w.created_at` },
  id: sql`w.id`,
});

export async function listWishlist(ctx: Ctx, query: WishlistQuery, subject?: string, lang?: string): Promise<ListPage> {
  const userId = await requireSubject(ctx, query.customer_id, subject);
  const values = { languages: languageChain(lang, ctx.tenant.language) };
  return readPage(ctx, query, { filters: { userId }, values });
}

const maxItems = 1000;

const ofList = sql`tenant_id = ${param("tenantId")} and user_id = ${param("userId")}`;
const ofItem = sql`${ofList} and product_id = ${param("productId")}`;
const hasItem = sql`exists (select 1 from ${wishlistItems} where ${ofItem})`;
const isVariantKept = sql`exists (select 1 from ${wishlistItems}
  where ${ofItem} and variant_id is ${param("variantId")})`;
const hasRoom = sql`(select count(*) from ${wishlistItems} where ${ofList}) < ${sql.raw(String(maxItems))}`;
const isOnSale = sql`(p.deleted_at is null and p.status = 'published')`;
const isVariantOfIt = sql`(${param("variantId")} is null or v.id is not null)`;
// The statement that writes also checks the item, so that the item cannot change between check and write.
const candidate = sql`from ${users} u join ${products} p on p.tenant_id = u.tenant_id and p.id = ${param("productId")}
  left join ${productVariants} v on v.id = ${param("variantId")} and v.product_id = p.id and v.deleted_at is null
  where u.tenant_id = ${param("tenantId")} and u.id = ${param("userId")}`;
const insert = sql`insert into ${wishlistItems} (id, tenant_id, user_id, product_id, variant_id, price_at_add_minor,
    currency, currency_digits, note, created_at, updated_at)
  select ${param("id")}, u.tenant_id, u.id, p.id, ${param("variantId")}, coalesce(v.price_minor, p.price_minor),
    p.currency, p.currency_digits, ${param("note")}, ${param("now")}, ${param("now")} ${candidate}`;
const onConflict = sql`on conflict (tenant_id, user_id, product_id)`;

const addItem = statement(sql`${insert} and ${isOnSale} and ${isVariantOfIt} and ${hasRoom} ${onConflict} do nothing`);
// If a product is no longer sold, its item can get another note, but no other variant.
const putItem = statement(sql`${insert} and ((${isOnSale} and ${isVariantOfIt}) or ${isVariantKept})
    and (${hasItem} or (${param("ifMatch")} is null and ${hasRoom}))
  ${onConflict} do update set variant_id = excluded.variant_id, note = excluded.note,
    price_at_add_minor = case when variant_id is excluded.variant_id then price_at_add_minor
      else excluded.price_at_add_minor end,
    version = version + 1, updated_at = excluded.updated_at
  where version = coalesce(${param("ifMatch")}, version)`);
const isMatched = sql`${ofItem} and ${isVersion(wishlistItems)}`;
const removed = pickStored(wishlistItems, "id", "productId");
const removeItem = statement((q) => q.delete(wishlistItems).where(isMatched).returning(removed));
const shown = { json: sql<string>`${itemJson}`, version: sql<number>`w.version` };
const isItem = sql`w.tenant_id = ${param("tenantId")} and w.user_id = ${param("userId")}
  and w.product_id = ${param("productId")}`;
const selectItem = statement((q) => q.select(shown).from(itemTables).where(isItem));
const facts = {
  isOnSale: sql`exists (select 1 ${candidate} and ${isOnSale})`.mapWith(Boolean),
  hasVariant: sql`exists (select 1 ${candidate} and ${isVariantOfIt})`.mapWith(Boolean),
};
const selectObstacles = statement((q) => q.select(facts).from(sql`(select 1)`));
type Obstacles = NonNullable<(typeof selectObstacles)["row"]>;

/** Names an item of a wishlist by owner and product. `subject` is the `user_id` that an app key sent. */
type ItemKey = { customer_id?: string | undefined; subject: string | undefined; product_id: string };

type StoredKey = { userId: string; productId: string; ifMatch: number | null };
type WishlistChoice = WishlistReplacement & { lang?: string | undefined };

/** Adds a product at its current price. Returns an item that is already there. Errors: validationFailed, wrongState. */
export async function addToWishlist(ctx: Ctx, { product_id: productId, ...owner }: ItemKey, choice: WishlistChoice) {
  const userId = await requireSubject(ctx, owner.customer_id, owner.subject);
  if (!isId("prod", productId)) throw invalidField("product_id", notForSale.productId);
  const { isSaved, found, obstacles } = await write(ctx, addItem, choice, { userId, productId, ifMatch: null });
  if (found) return { ...found, status: isSaved ? 201 : 200 } as const;
  throw cannotSave(obstacles, invalidField("product_id", notForSale.product));
}

/** Sets variant and note of an item, or adds the item. Another variant resets `price_at_add`. Errors: notFound. */
export async function putOnWishlist(ctx: Ctx, key: ItemKey, choice: WishlistChoice, ifMatch: number | null) {
  const { userId, productId } = await findKey(ctx, key);
  const { isSaved, found, obstacles } = await write(ctx, putItem, choice, { userId, productId, ifMatch });
  if (isSaved && found) return { ...found, status: found.version === 1 ? 201 : 200 } as const;
  if (ifMatch !== null && (found ? found.version !== ifMatch : obstacles.isOnSale)) throw preconditionFailed();
  // The product of a stored item exists, so only its variant can be wrong.
  if (found) throw noSuchVariant();
  throw cannotSave(obstacles, notFound("product", key.product_id));
}

export async function getWishlistItem(ctx: Ctx, key: ItemKey, lang?: string) {
  const languages = languageChain(lang, ctx.tenant.language);
  const found = await get(ctx.db, selectItem, { ...(await findKey(ctx, key)), languages });
  if (!found) throw noSuchItem(key.product_id);
  return found;
}

export async function removeFromWishlist(ctx: Ctx, key: ItemKey, ifMatch: number | null) {
  const values = { ...(await findKey(ctx, key)), ifMatch, languages: "[]" };
  const [removed, found] = await ctx.db.batch([bind(removeItem, values), bind(selectItem, values)]);
  const [row] = rowsOf(removeItem, removed);
  if (row) return row;
  throw found?.rows[0] ? preconditionFailed() : noSuchItem(key.product_id);
}

async function findKey(ctx: Ctx, { customer_id: customerId, subject, product_id: named }: ItemKey) {
  const userId = await requireSubject(ctx, customerId, subject);
  return { tenantId: ctx.tenant.id, userId, productId: await findProductId(ctx, named) };
}

/** Writes an item, reads it again, and reads what could have prevented the write, in one batch. */
async function write(ctx: Ctx, save: Statement<unknown>, choice: WishlistChoice, key: StoredKey) {
  const { variant_id: variantId = null, note = null, lang } = choice;
  if (variantId !== null && !isId("var", variantId)) throw noSuchVariant();
  const values = {
    id: newId("wish"),
    tenantId: ctx.tenant.id,
    ...key,
    variantId,
    note: checkNote("note", note, maxNote),
    now: toTimestamp(ctx.now()),
    languages: languageChain(lang, ctx.tenant.language),
  };
  const statements = [bind(save, values), bind(selectItem, values), bind(selectObstacles, values)];
  const [saved, found, obstacles] = await ctx.db.batch(statements);
  return {
    isSaved: saved?.rowsAffected === 1,
    found: rowsOf(selectItem, found)[0],
    obstacles: rowsOf(selectObstacles, obstacles)[0] as Obstacles,
  };
}

function cannotSave(obstacles: Obstacles, notSold: AppError): AppError {
  if (!obstacles.isOnSale) return notSold;
  if (!obstacles.hasVariant) return noSuchVariant();
  return wrongState(`The wishlist already has ${maxItems} products, the maximum.`);
}

function noSuchVariant(): AppError {
  return invalidField("variant_id", "is not a variant of the product");
}

function noSuchItem(product: string): AppError {
  return notFound("product", product, { in: "the wishlist" });
}

import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, type CompiledStatement, get, param, statement } from "../../db/statement.ts";
import { type AppError, invalidField, notFound, preconditionFailed, wrongState } from "../../errors.ts";
import { isId, newId } from "../../values/ids.ts";
import { checkNote } from "../../values/text.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { products, productVariants } from "../products/table.ts";
import { noSuchProduct, requireProductId } from "../products/transfer/refusal.ts";
import { languageChain } from "../products/translation.ts";
import { noSuchUser } from "../users/guards.ts";
import { requireSubject } from "../users/subject.ts";
import { users } from "../users/table.ts";
import { maxNote, type WishlistReplacement } from "./model.ts";
import { itemJson, itemTables, type RenderedItem } from "./rendering.ts";
import { wishlistItems } from "./table.ts";

/** Most products on one list. */
const maxItems = 1000;

const ofList = sql`tenant_id = ${param("tenantId")} and user_id = ${param("userId")}`;
const item = sql`from ${wishlistItems} where ${ofList} and product_id = ${param("productId")}`;
const hasItem = sql`exists (select 1 ${item})`;
const isVariantKept = sql`exists (select 1 ${item} and variant_id is ${param("variantId")})`;
const hasRoom = sql`(select count(*) from ${wishlistItems} where ${ofList}) < ${sql.raw(String(maxItems))}`;
const isOnSale = sql`(p.deleted_at is null and p.status = 'published')`;
const isVariantOfIt = sql`(${param("variantId")} is null or v.id is not null)`;
// What may not be put on the list is left out by the statement that would do it: nothing comes between.
const candidate = sql`from ${users} u join ${products} p on p.tenant_id = u.tenant_id and p.id = ${param("productId")}
  left join ${productVariants} v on v.id = ${param("variantId")} and v.product_id = p.id and v.deleted_at is null
  where u.tenant_id = ${param("tenantId")} and u.id = ${param("userId")}`;
const insert = sql`insert into ${wishlistItems} (id, tenant_id, user_id, product_id, variant_id, price_at_add_minor,
    currency, currency_digits, note, created_at, updated_at)
  select ${param("id")}, u.tenant_id, u.id, p.id, ${param("variantId")}, coalesce(v.price_minor, p.price_minor),
    p.currency, p.currency_digits, ${param("note")}, ${param("now")}, ${param("now")} ${candidate}`;
const onConflict = sql`on conflict (tenant_id, user_id, product_id)`;

interface Written {
  id: string;
  version: number;
}
const addItem = statement<Written>(sql`${insert} and ${isOnSale} and ${isVariantOfIt} and ${hasRoom}
  ${onConflict} do nothing returning id, version`);
// The note of what is not on sale any more can still be written, and its choice stay as it was.
const putItem = statement<Written>(sql`${insert} and ((${isOnSale} and ${isVariantOfIt}) or ${isVariantKept})
    and (${hasItem} or (${param("ifMatch")} is null and ${hasRoom}))
  ${onConflict} do update set variant_id = excluded.variant_id, note = excluded.note,
    price_at_add_minor = case when variant_id is excluded.variant_id then price_at_add_minor
      else excluded.price_at_add_minor end,
    version = version + 1, updated_at = excluded.updated_at
  where version = coalesce(${param("ifMatch")}, version) returning id, version`);
const removeItem = statement<{ id: string }>(sql`
  delete ${item} and version = coalesce(${param("ifMatch")}, version) returning id`);
const selectItem = statement<RenderedItem>(sql`select ${itemJson} as json, w.version ${itemTables}
  where w.tenant_id = ${param("tenantId")} and w.user_id = ${param("userId")} and w.product_id = ${param("productId")}`);

/** How things stand where something was not written. */
interface Standing {
  hasUser: number;
  isOnSale: number;
  hasVariant: number;
}
const selectStanding = statement<Standing>(sql`select
  exists (select 1 from ${users} where tenant_id = ${param("tenantId")} and id = ${param("userId")}) as hasUser,
  exists (select 1 ${candidate} and ${isOnSale}) as isOnSale,
  exists (select 1 ${candidate} and ${isVariantOfIt}) as hasVariant`);

/** An item as it stands after a write, and whether the write has made it. */
export interface SavedItem extends RenderedItem {
  isNew: boolean;
}

/** Whose list it is: `customer_id` of the call, and `user_id` beside app credentials. */
export interface Whose {
  customerId: string | undefined;
  subject: string | undefined;
}

/** A choice for a list: the fields of the API, with the language in which the title is wanted. */
export interface WishlistChoice extends WishlistReplacement {
  lang?: string | undefined;
}

/**
 * Puts a product on a user's list, at its present price. What is there already stays as it is and is answered.
 * @throws validationFailed naming the field for what is not sold here, wrongState when the list is full; notFound as
 * `requireSubject`.
 */
export async function addToWishlist(
  ctx: Ctx,
  whose: Whose,
  { product_id: productId, ...choice }: WishlistChoice & { product_id: string },
): Promise<SavedItem> {
  const notSold = () => invalidField("product_id", "names nothing that is sold here");
  const userId = await requireSubject(ctx, whose.customerId, whose.subject);
  if (!isId("prod", productId)) throw notSold();
  const { saved, found, standing } = await write(ctx, addItem, userId, productId, choice, null);
  if (found) return { ...found, isNew: saved !== undefined };
  throw refusal(standing, notSold);
}

/**
 * Sets variant and note of a product on a user's list, and puts it there where it is not. With another variant the price
 * at which it was added becomes that one's.
 * @param ifMatch the version that must stand; null for any, and for none.
 * @throws notFound for the product, where it is neither sold nor on the list, and for the user; preconditionFailed; validationFailed naming
 * `variant_id`; wrongState when the list is full.
 */
export async function putOnWishlist(
  ctx: Ctx,
  whose: Whose,
  productId: string,
  choice: WishlistChoice,
  ifMatch: number | null,
): Promise<SavedItem> {
  const userId = await requireSubject(ctx, whose.customerId, whose.subject);
  requireProductId(productId);
  const { saved, found, standing } = await write(ctx, putItem, userId, productId, choice, ifMatch);
  if (saved && found) return { ...found, isNew: saved.version === 1 };
  if (ifMatch !== null && (found ? found.version !== ifMatch : standing.isOnSale)) throw preconditionFailed();
  throw refusal(found ? { ...standing, isOnSale: 1, hasVariant: 0 } : standing, noSuchProduct);
}

/**
 * An item of a user's list.
 * @throws notFound.
 */
export async function getWishlistItem(ctx: Ctx, whose: Whose, productId: string, lang?: string): Promise<RenderedItem> {
  const userId = await requireSubject(ctx, whose.customerId, whose.subject);
  requireProductId(productId);
  const languages = languageChain(lang, ctx.tenant.language);
  const found = await get(ctx.db, selectItem, { tenantId: ctx.tenant.id, userId, productId, languages });
  if (!found) throw noSuchItem();
  return found;
}

/**
 * Takes a product off a user's list.
 * @param ifMatch the version that must stand; null for any.
 * @returns the item's id.
 * @throws notFound, preconditionFailed.
 */
export async function removeFromWishlist(
  ctx: Ctx,
  whose: Whose,
  productId: string,
  ifMatch: number | null,
): Promise<string> {
  const userId = await requireSubject(ctx, whose.customerId, whose.subject);
  requireProductId(productId);
  const values = { tenantId: ctx.tenant.id, userId, productId, ifMatch, languages: "[]" };
  const [removed, found] = await ctx.db.batch([bind(removeItem, values), bind(selectItem, values)]);
  const row = removed?.rows[0] as unknown as { id: string } | undefined;
  if (row) return row.id;
  throw found?.rows[0] ? preconditionFailed() : noSuchItem();
}

/** Writes an item, and reads it and what may have been in the way, in one transaction and one round trip. */
async function write(
  ctx: Ctx,
  save: CompiledStatement<Written>,
  userId: string,
  productId: string,
  { variant_id: variantId = null, note = null, lang }: WishlistChoice,
  ifMatch: number | null,
): Promise<{ saved: Written | undefined; found: RenderedItem | undefined; standing: Standing }> {
  if (variantId !== null && !isId("var", variantId)) throw noSuchVariant();
  const values = {
    id: newId("wish"),
    tenantId: ctx.tenant.id,
    userId,
    productId,
    variantId,
    note: checkNote("note", note, maxNote),
    now: toTimestamp(ctx.now()),
    languages: languageChain(lang, ctx.tenant.language),
    ifMatch,
  };
  const results = await ctx.db.batch([bind(save, values), bind(selectItem, values), bind(selectStanding, values)]);
  const [saved, found, standing] = results.map(({ rows }) => rows[0] as unknown);
  return {
    saved: saved as Written | undefined,
    found: found as RenderedItem | undefined,
    standing: standing as Standing,
  };
}

function refusal(standing: Standing, notSold: () => AppError): AppError {
  if (!standing.hasUser) return noSuchUser();
  if (!standing.isOnSale) return notSold();
  if (!standing.hasVariant) return noSuchVariant();
  return wrongState(`A wishlist holds at most ${maxItems} products.`);
}

function noSuchVariant(): AppError {
  return invalidField("variant_id", "names no variant of the product that is sold");
}

function noSuchItem(): AppError {
  return notFound("product", undefined, { in: "the wishlist" });
}

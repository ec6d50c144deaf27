import { and, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { get, ofStore, ofStoreNotDeleted, param, statement } from "../../../db/statement.ts";
import { invalidField } from "../../../errors.ts";
import { validate } from "../../../values/validate.ts";
import { parseLanguage } from "../../tenants/input.ts";
import { createCategory } from "../categories/service.ts";
import { categories } from "../categories/table.ts";
import { normalizeSku } from "../products/input.ts";
import { maxCategories, maxTitle, ProductFields, ProductInput } from "../products/model.ts";
import { findCategoryIds } from "../products/resolve.ts";
import { createProduct, setProductFields } from "../products/service.ts";
import { defaultSlug } from "../products/slug.ts";
import { products, productVariants } from "../products/table.ts";
import type { Fields, ImportItem } from "./import-item.ts";
import { type ExistingProduct, findChanges, importVariants, newVariant, normalize } from "./import-variant.ts";

const columns = { json: sql<string>`rendered`, sku: products.sku };
const isProduct = ofStoreNotDeleted(products);
const selectBy = (condition: SQL) =>
  statement((q) => q.select(columns).from(products).where(and(isProduct, condition)));
const selectById = selectBy(sql`id = ${param("key")}`);
const selectBySku = selectBy(sql`sku = ${param("key")}`);
const selectBySlug = selectBy(sql`slug = ${param("key")}`);
const selectByVariantSku = selectBy(sql`id = (
  select product_id from ${productVariants} where ${ofStoreNotDeleted(productVariants)} and sku = ${param("key")})`);

const isTitled = sql`${ofStore(categories)} and parent_id is ${param("parentId")} and title = ${param("title")}`;
const { id, position } = categories;
const selectCategory = statement((q) =>
  q.select({ id }).from(categories).where(isTitled).orderBy(position, id).limit(1),
);

/** The title, and the names of changed fields (see `importVariants`); null for a new product. */
export type ImportOutcome = "unchanged" | { title: string; fields: string[] | null };

/** Records a key of the item's product. Throws validationFailed if an earlier item has the same key. */
type Claim = (field: string, key: string) => void;

/** Creates the item's product, or changes the product that has its id, SKU, slug or title. */
export async function importProduct(tx: Ctx, item: ImportItem, claim: Claim): Promise<ImportOutcome> {
  const { id: _, currency: __, lang: givenLang, ...given } = item.document;
  const lang = givenLang == null ? undefined : parseLanguage("lang", String(givenLang));
  const existing = await findExisting(tx, item);
  if (existing) claim(item.document.id ? "id" : "row", `id:${existing.id}`);
  const fields = await withCategoryIds(tx, normalize(given));
  if (item.variants.length > 0 || (existing && existing.variants.length > 0)) {
    refuseOwnStock(fields.stock, item, existing);
    delete fields.stock;
  }
  if (existing && lang !== undefined && lang !== existing.lang)
    throw invalidField("lang", `must be ${existing.lang}. Put texts in other languages into translations`);
  if (existing) return changeProduct(tx, item, existing, fields);
  requireCurrency(item.document.currency, tx.tenant.currency);
  const variants = item.variants.map(({ document }, index) => newVariant(tx, document, index, fields.price));
  const input = variants.length > 0 ? { ...fields, variants } : fields;
  const { json } = await createProduct(tx, validate(ProductInput, input, "row"), lang);
  const { id, title } = JSON.parse(json) as ExistingProduct;
  claim("row", `id:${id}`);
  return { title, fields: null };
}

async function changeProduct(tx: Ctx, item: ImportItem, existing: ExistingProduct, fields: Fields) {
  // The JSON of a product with variants omits its own SKU, so `findChanges` would report this SKU as a change.
  if (existing.variants.length > 0 && fields.sku === existing.ownSku) delete fields.sku;
  const changes = findChanges(existing, fields, item.isCsv);
  const isPriced = "price" in changes || "compare_at_price" in changes;
  requireCurrency(item.document.currency, isPriced ? tx.tenant.currency : existing.currency);
  const changed = Object.keys(changes);
  if (changed.length > 0) {
    await setProductFields(tx, existing.id, validate(ProductFields, changes, "row"), existing.lang);
  }
  changed.push(...(await importVariants(tx, existing, item)));
  return changed.length === 0 ? ("unchanged" as const) : { title: existing.title, fields: changed };
}

async function findExisting(tx: Ctx, item: ImportItem): Promise<ExistingProduct | undefined> {
  const { document, variants, isCsv } = item;
  if (document.id != null) {
    const found = await find(tx, selectById, String(document.id));
    if (found) return found;
    throw invalidField("id", "is not a product of this store. Omit the id to create one");
  }
  const sku = searchableSku(document);
  if (sku !== undefined) {
    const found = await find(tx, selectBySku, sku);
    if (found || variants.length > 0 || !(await find(tx, selectByVariantSku, sku))) return found;
    throw invalidField("sku", `is a variant's SKU. Use ${isCsv ? "variant_sku" : "the sku of its variants"}`);
  }
  for (const variant of variants) {
    const found = await find(tx, selectByVariantSku, searchableSku(variant.document));
    if (found) return found;
  }
  const slug = identifyingSlug(item, tx.tenant.language);
  const found = await find(tx, selectBySlug, slug);
  // Titles such as C++ and C# make the same slug, so the product with the slug may be another one.
  if (!found || document.slug || found.title === document.title) return found;
  throw invalidField(
    "title",
    `makes the slug "${slug}", which the product "${found.title}" has. Give the row a sku or a slug of its own, ` +
      "or the id of that product to change it",
  );
}

async function find(tx: Ctx, select: typeof selectById, key: string | undefined) {
  const found = key === undefined ? undefined : await get(tx.db, select, { tenantId: tx.tenant.id, key });
  return found && ({ ...JSON.parse(found.json), ownSku: found.sku } as ExistingProduct);
}

/** Returns an item's slug or SKUs as keys. Another item with one of these keys would change the same product. */
export function identifyingKeys(item: ImportItem, lang: string): [field: string, key: string][] {
  const { document, variants } = item;
  const slug = identifyingSlug(item, lang);
  if (slug !== undefined) return [[document.slug ? "slug" : "title", slug]];
  const all = variants.length > 0 ? variants.map((variant) => variant.document) : [document];
  return all.flatMap((one, index) => {
    const sku = searchableSku(one);
    return sku === undefined ? [] : [[one === document ? "sku" : `variants.${index}.sku`, `sku:${sku}`]];
  });
}

/** Returns the slug, or one made from the title, of an item without id and SKU; undefined for other items. */
function identifyingSlug({ document, variants }: ImportItem, lang: string): string | undefined {
  const { id, slug, title } = document;
  if (id != null || [document, ...variants.map((one) => one.document)].some(({ sku }) => sku != null)) return undefined;
  if (isSearchable(slug)) return slug.normalize("NFC");
  return isSearchable(title) && title.length <= maxTitle ? defaultSlug(title, lang) : undefined;
}

/** Returns a document's SKU for a look-up; undefined for an invalid SKU, which writing the product refuses. */
function searchableSku({ sku }: Fields): string | undefined {
  return isSearchable(sku) ? normalizeSku(sku) : undefined;
}

function isSearchable(text: unknown): text is string {
  return typeof text === "string" && text !== "" && !text.includes("\0") && text.isWellFormed();
}

async function withCategoryIds(tx: Ctx, { categories: named, ...fields }: Fields): Promise<Fields> {
  if (named === undefined) return fields;
  const isText = (name: unknown) => typeof name === "string";
  const isName = (name: unknown) => isText(name) || (Array.isArray(name) && name.every(isText));
  // Checks the number before any category is created, because creating thousands takes seconds.
  if (!Array.isArray(named) || named.length > maxCategories || !named.every(isName)) {
    throw invalidField("categories", `must be at most ${maxCategories} slugs, or paths such as ["Clothing", "Shirts"]`);
  }
  const names: string[] = [];
  for (const name of named) names.push(isText(name) ? name : await findOrCreateCategory(tx, name));
  return { ...fields, category_ids: await findCategoryIds(tx, "categories", names) };
}

async function findOrCreateCategory(tx: Ctx, path: string[]): Promise<string> {
  let parentId: string | null = null;
  for (const title of path) {
    const values: Fields = { tenantId: tx.tenant.id, parentId, title };
    const found = await get(tx.db, selectCategory, values);
    parentId = found?.id ?? JSON.parse((await createCategory(tx, { title, parent_id: parentId })).json).id;
  }
  return parentId ?? "";
}

/** Refuses a stock for a product with variants, unless it is the sum that an export writes. */
function refuseOwnStock(stock: unknown, { variants, isCsv }: ImportItem, existing: ExistingProduct | undefined): void {
  const isCounted = variants.some(({ document }) => document.stock != null);
  if (stock == null || stock === existing?.stock || isCounted) return;
  throw invalidField("stock", `is counted by variant. Use ${isCsv ? "variant_stock" : "the stock of its variants"}`);
}

function requireCurrency(given: unknown, needed: string): void {
  if (given == null || given === needed) return;
  throw invalidField("currency", `must be ${needed}, the currency of this store's prices`);
}

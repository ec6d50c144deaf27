import { sql } from "drizzle-orm";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { keysetList } from "../../../db/keyset-list.ts";
import { jsonOf } from "../../../db/selection.ts";
import { all, byId, compiledOnce, get, ofStore, param, run, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { invalidField, notFound, preconditionFailed, wrongState } from "../../../errors.ts";
import type { ListPage } from "../../../pagination/list-page.ts";
import { requireWhole } from "../../../values/fields.ts";
import { newId, toTimestamp } from "../../../values/stamps.ts";
import { recordEvent } from "../../events/service.ts";
import { parseLanguage } from "../../tenants/input.ts";
import { termToken } from "../list/search-words.ts";
import { columnsOf, productColumns } from "../products/input.ts";
import type { RenderedProduct } from "../products/rendering.ts";
import { explainConflicts, unknownCategory } from "../products/resolve.ts";
import { slugFrom } from "../products/slug.ts";
import { products, productsToIndex } from "../products/table.ts";
import { languageChain, localizedJson, localizedLanguage } from "../products/translation.ts";
import type { WriteOptions } from "../products/update.ts";
import { freeSlug, ownLanguageError, textValues, tooManyLanguagesError, updateStatement } from "../products/update.ts";
import type { Category, CategoryInput, CategoryListQuery, CategoryPatch } from "./model.ts";
import { categoryFields, limits } from "./model.ts";
import { categories, isVisible } from "./table.ts";

const ofTenant = sql`tenant_id = ${param("tenantId")}`;
const { id, version, lang, position } = categories;
const shown = { id, version, lang, json: localizedJson(sql`rendered`), language: localizedLanguage };
const isNamed = sql`${ofStore(categories)} and ${param("name")} in (id, slug) and ${isVisible}`;
const select = statement((q) => q.select(shown).from(categories).where(isNamed));

// Checks a move of the category `id` below `parent`. Selects the level that the deepest descendant would have, and
// whether `parent` is the category itself or one of its descendants.
const selectPlace = statement<{ parent: string; level: number; is_below: number }>(sql`
  with recursive above(id, up) as (
    select id, parent_id from ${categories} where ${ofTenant} and ${param("parent")} in (id, slug)
    union select c.id, c.parent_id from above a join ${categories} c on c.id = a.up),
  below(id, level) as (
    select ${param("id")}, 1 union select c.id, level + 1 from below b join ${categories} c on c.parent_id = b.id)
  select id as parent, (select count(*) from above) + (select max(level) from below) as level,
    exists (select 1 from above where id = ${param("id")}) as is_below
  from ${categories} where ${ofTenant} and ${param("parent")} in (id, slug)`);

const last = sql`(select coalesce(max(position) + 1, 0) from ${categories}
  where ${ofTenant} and parent_id is ${param("parentId")})`;
const inserted = { json: sql<string>`rendered`, version, language: lang };
// The values are in the order of the table's columns, because an `insert … select` matches them by position.
const newCategory = sql`select ${param("id")}, ${param("tenantId")}, ${param("parentId")}, ${freeSlug(categories)},
  ${param("title")}, ${param("description")}, ${param("translations")}, coalesce(${param("position")}, ${last}),
  ${param("published")}, ${param("lang")}, 1, ${param("now")}, ${param("now")}
  where (select count(*) from ${categories} where ${ofTenant}) < ${sql.raw(String(limits.categories))}`;
const insertCategory = statement((q) => q.insert(categories).select(newCategory).returning(inserted));
const term = sql`(select 1 from product_search where product_search match ${param("term")})`;
const pending = sql`(select 1 from ${productsToIndex} i join ${products} p on p.row_number = i.row_number, json_each(p.category_ids) j
  where p.deleted_at is null and j.value = ${param("id")})`;
const deleteCategoryRow = statement(sql`
  delete from ${categories} where ${byId(categories)} and not exists (select 1 from ${categories} c where c.parent_id = ${param("id")})
    and not exists ${term} and not exists ${pending}`);

const readPage = keysetList({
  name: "categories",
  fields: categoryFields,
  json: localizedJson(sql`rendered`),
  bytes: sql`octet_length(rendered)`,
  from: sql`from ${categories}`,
  conditions: { top: sql`${param("top")} and parent_id is null`, includesDrafts: isVisible },
  sorts: { position: sql`position` },
});

export async function listCategories(ctx: Ctx, query: CategoryListQuery, lang?: string): Promise<ListPage> {
  const filters = {
    ...(query.parent_id === "none" ? { top: 1 } : { parent_id: query.parent_id }),
    includesDrafts: isCatalogOnly(ctx) ? 0 : undefined,
  };
  const values = { languages: languageChain(lang, ctx.tenant.language) };
  return readPage(ctx, { ...query, sort: "position" }, { filters, values });
}

const selectAll = statement((q) =>
  q
    .select({ category: jsonOf<Category>(inserted.json) })
    .from(categories)
    .where(ofStore(categories))
    .orderBy(position, id),
);

/** Lists all categories of the store, each after its parent, with its level: 0 for a top category. */
export async function listCategoryTree(ctx: Ctx): Promise<(Category & { level: number })[]> {
  const rows = await all(ctx.db, selectAll, { tenantId: ctx.tenant.id });
  const children = Map.groupBy(rows, ({ category }) => category.parent_id);
  const branch = (parent: string | null, level: number): (Category & { level: number })[] =>
    (children.get(parent) ?? []).flatMap(({ category }) => [{ ...category, level }, ...branch(category.id, level + 1)]);
  return branch(null, 0);
}

export async function getCategory(ctx: Ctx, named: string, lang?: string) {
  const category = await get(ctx.db, select, {
    tenantId: ctx.tenant.id,
    name: named.normalize("NFC"),
    languages: languageChain(lang, ctx.tenant.language),
    includesDrafts: isCatalogOnly(ctx) ? 0 : 1,
  });
  if (!category) throw notFound("category", named);
  return category;
}

export async function createCategory(ctx: Ctx, input: CategoryInput, lang?: string): Promise<RenderedProduct> {
  const language = lang === undefined ? ctx.tenant.language : parseLanguage("lang", lang);
  return inTransaction(ctx, async (tx) => {
    const id = newId("cat");
    const columns = await categoryColumns(tx, id, input);
    const clash = ownLanguageError(columns.translations, language);
    if (clash) throw clash;
    const row = {
      ...{ parentId: null, description: null, translations: "{}", published: 1, position: null },
      slug: slugFrom(input.title, ctx.tenant.language) || "category",
      isSlugGiven: columns.slug === undefined ? 0 : 1,
      ...columns,
      ...{ id, tenantId: tx.tenant.id, lang: language, now: toTimestamp(tx.now()) },
    };
    const category = await explainConflicts(tx, row, () => get(tx.db, insertCategory, row));
    if (!category) throw wrongState(`The store already has ${limits.categories} categories, the maximum.`);
    await recordEvent(tx, { type: "category.created", subject: id, data: { version: 1 } });
    return category;
  });
}

export async function updateCategory(ctx: Ctx, named: string, patch: CategoryPatch, options: WriteOptions) {
  const { lang, ifMatch } = options;
  return inTransaction(ctx, async (tx) => {
    const { id, lang: own } = await requireVersion(tx, named, ifMatch);
    const columns = await categoryColumns(tx, id, patch);
    const names = columnsOf(columns);
    const form = { table: categories, json: sql`rendered`, merge: true };
    const update = compiledOnce(`update category ${names.join(" ")}`, () => updateStatement(names, form));
    const now = toTimestamp(tx.now());
    const values = { ...columns, ...textValues(tx, columns, lang), tenantId: tx.tenant.id, id, now, ifMatch };
    const category = await explainConflicts(tx, columns, () => get(tx.db, update, values));
    if (!category) throw ownLanguageError(columns.translations, own) ?? tooManyLanguagesError(columns);
    const data = { version: category.version, fields: Object.keys(patch) };
    await recordEvent(tx, { type: "category.updated", subject: id, data });
    return category;
  });
}

/** Deletes a category without products and subcategories. Errors: notFound, preconditionFailed, wrongState. */
export async function deleteCategory(ctx: Ctx, named: string, ifMatch: number | null): Promise<string> {
  return inTransaction(ctx, async (tx) => {
    const { id, version } = await requireVersion(tx, named, ifMatch);
    const token = `"${termToken(tx.tenant.id, "category", id)}"`;
    const deleted = await run(tx.db, deleteCategoryRow, { tenantId: tx.tenant.id, id, term: token });
    if (deleted === 0) throw wrongState(`Category ${named} has products or subcategories. Move them first.`);
    await recordEvent(tx, { type: "category.deleted", subject: id, data: { version } });
    return id;
  });
}

async function requireVersion(tx: Ctx, named: string, ifMatch: number | null) {
  const category = await getCategory(tx, named);
  if (ifMatch !== null && ifMatch !== category.version) throw preconditionFailed();
  return category;
}

async function categoryColumns(tx: Ctx, id: string, patch: CategoryPatch) {
  const { parent_id: parent, position, published, ...texts } = patch;
  return {
    ...productColumns(tx, texts),
    ...(position !== undefined && { position: requireWhole("position", position, 0, 1_000_000) }),
    // libSQL cannot bind a boolean, so the column gets 1 or 0.
    ...(published !== undefined && { published: published ? 1 : 0 }),
    ...(parent !== undefined && { parentId: parent === null ? null : await findParent(tx, id, parent) }),
  };
}

async function findParent(tx: Ctx, id: string, parent: string): Promise<string> {
  const place = await get(tx.db, selectPlace, { tenantId: tx.tenant.id, id, parent: parent.normalize("NFC") });
  if (!place) throw invalidField("parent_id", unknownCategory);
  if (place.is_below) throw invalidField("parent_id", "must not be the category itself or one of its subcategories");
  if (place.level > limits.depth)
    throw invalidField("parent_id", `would make more than ${limits.depth} category levels`);
  return place.parent;
}

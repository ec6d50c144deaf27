import { type SQL, sql } from "drizzle-orm";
import { type Ctx, isCatalogOnly } from "../../context.ts";
import { compiledOnce, get, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { invalidField, notFound, preconditionFailed, wrongState } from "../../errors.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { recordEvent } from "../events/service.ts";
import { columnName, columnsOf, tooManyLanguages } from "../products/input.ts";
import { termToken } from "../products/list/search-words.ts";
import { explainConflicts, unknownCategory } from "../products/product-errors.ts";
import type { RenderedProduct } from "../products/rendering.ts";
import { products } from "../products/table.ts";
import { isText, ownLanguageError, textChanges, textValues } from "../products/text-changes.ts";
import { languageChain, servedJson, servedLanguage } from "../products/translation.ts";
import { parseLanguage } from "../tenants/input.ts";
import { type CategoryColumns, categoryColumns, defaultCategorySlug } from "./input.ts";
import { type CategoryInput, type CategoryPatch, limits } from "./model.ts";
import { categories } from "./table.ts";
import { isVisible } from "./visible.ts";

/** A category as JSON text; `language` is that of its title. */
type RenderedCategory = RenderedProduct;

const ofStore = sql`tenant_id = ${param("tenantId")}`;
const living = sql`${ofStore} and id = ${param("id")}`;
const select = statement<RenderedCategory & { id: string }>(sql`
  select id, ${servedJson(sql`rendered`)} as json, version, ${servedLanguage} as language from ${categories}
  where ${ofStore} and ${param("name")} in (id, slug) and ${isVisible("categories")}`);

const parentId = param("parentId");
/** The levels from the top down to the parent. */
const depth = sql`(with recursive above(id, level) as (
    select id, 1 from ${categories} where id = ${parentId}
    union select c.parent_id, level + 1 from above a join ${categories} c on c.id = a.id where c.parent_id is not null)
  select coalesce(max(level), 0) from above)`;
const below = sql`with recursive below(id, level) as (
  select ${param("id")}, 1 union select c.id, level + 1 from below b join ${categories} c on c.parent_id = b.id)`;
const isParent = sql`(${parentId} is null or exists (select 1 from ${categories} where ${ofStore} and id = ${parentId}))`;
const last = sql`(select coalesce(max(position) + 1, 0) from ${categories} where ${ofStore} and parent_id is ${parentId})`;
// The end of the id is random and makes slugs from equal titles unique.
const freeSlug = sql`case when ${param("isSlugGiven")} or not exists (select 1 from ${categories}
    where ${ofStore} and slug = ${param("slug")})
  then ${param("slug")} else ${param("slug")} || '-' || substr(${param("id")}, -10) end`;
const insertCategory = statement<RenderedCategory>(sql`
  insert into ${categories} (id, tenant_id, parent_id, slug, title, description, translations, position, published, lang,
    created_at, updated_at)
  select ${param("id")}, ${param("tenantId")}, ${parentId}, ${freeSlug}, ${param("title")}, ${param("description")},
    ${param("translations")}, coalesce(${param("position")}, ${last}), ${param("published")}, ${param("lang")},
    ${param("now")}, ${param("now")}
  where ${isParent} and ${depth} < ${sql.raw(String(limits.depth))}
    and (select count(*) from ${categories} where ${ofStore}) < ${sql.raw(String(limits.categories))}
  returning rendered as json, version, lang as language`);
const selectParent = statement<{ is_parent: number; level: number; is_below: number; categories: number }>(sql`
  select ${isParent} as is_parent, ${depth} + (${below} select max(level) from below) as level,
    exists (${below} select 1 from below where id = ${parentId}) as is_below,
    (select count(*) from ${categories} where ${ofStore}) as categories`);
const term = sql`(select 1 from product_search where product_search match ${param("term")})`;
const pending = sql`(select 1 from ${products} p, json_each(p.category_ids) j
  where p.is_indexed = 0 and p.deleted_at is null and j.value = ${param("id")})`;
const deleteCategoryRow = statement<{ version: number }>(sql`
  delete from ${categories} where ${living} and version = coalesce(${param("ifMatch")}, version)
    and not exists (select 1 from ${categories} c where c.parent_id = ${param("id")})
    and not exists ${term} and not exists ${pending}
  returning version`);

/** One category by id or slug, with its texts in `lang`. Customers get published ones only. Errors: notFound. */
export async function getCategory(ctx: Ctx, named: string, lang?: string): Promise<RenderedCategory & { id: string }> {
  const category = await get(ctx.db, select, {
    tenantId: ctx.tenant.id,
    name: named.normalize("NFC"),
    languages: languageChain(lang, ctx.tenant.language),
    isOpen: isCatalogOnly(ctx) ? 0 : 1,
  });
  if (!category) throw notFound("category", named);
  return category;
}

/** Creates a category. Errors: validationFailed, conflict for a taken slug, wrongState if the store has too many. */
export async function createCategory(ctx: Ctx, input: CategoryInput, lang?: string): Promise<RenderedCategory> {
  const language = lang === undefined ? ctx.tenant.language : parseLanguage("lang", lang);
  return inTransaction(ctx, async (tx) => {
    const columns = withDefaults(await categoryColumns(tx, input));
    const clash = ownLanguageError(columns.translations, language);
    if (clash) throw clash;
    const id = newId("cat");
    const row = {
      position: null,
      ...columns,
      id,
      tenantId: tx.tenant.id,
      slug: columns.slug ?? defaultCategorySlug(input.title),
      isSlugGiven: columns.slug === undefined ? 0 : 1,
      lang: language,
      now: toTimestamp(tx.now()),
    };
    const category = await explainConflicts(() => get(tx.db, insertCategory, row), "category");
    if (!category) throw await placeError(tx, id, columns.parentId);
    await recordEvent(tx, { type: "category.created", subject: id, data: { version: 1 } });
    return category;
  });
}

interface CategoryChange {
  /** Merge as PATCH does, or replace as PUT does. */
  merge: boolean;
  /** The language of the given texts, if the caller named one. */
  lang?: string | undefined;
  /** The version that the category must have; null for any. */
  ifMatch: number | null;
}

/**
 * Changes the given fields, or replaces all but the slug and a position that is not given.
 * @throws notFound, preconditionFailed, validationFailed, conflict.
 */
export async function updateCategory(ctx: Ctx, named: string, patch: CategoryPatch, change: CategoryChange) {
  const { merge, lang, ifMatch } = change;
  return inTransaction(ctx, async (tx) => {
    const { id } = await getCategory(tx, named);
    const given = await categoryColumns(tx, patch);
    const columns = merge ? given : withDefaults(given);
    const names = columnsOf(columns);
    const update = compiledOnce(`update category ${merge} ${names.join(" ")}`, () => compileUpdate(names, merge));
    const now = toTimestamp(tx.now());
    const values = { ...columns, ...textValues(tx, columns, lang), tenantId: tx.tenant.id, id, now, ifMatch };
    const category = await explainConflicts(() => get(tx.db, update, values), "category");
    if (!category) throw await failedUpdateError(tx, id, columns, change);
    const fields = merge ? Object.keys(patch) : undefined;
    await recordEvent(tx, { type: "category.updated", subject: id, data: { version: category.version, fields } });
    return category;
  });
}

/** Deletes a category that has neither products nor categories below it. Returns its id. Errors: notFound, preconditionFailed, wrongState. */
export async function deleteCategory(ctx: Ctx, named: string, ifMatch: number | null): Promise<string> {
  return inTransaction(ctx, async (tx) => {
    const { id, version } = await getCategory(tx, named);
    const token = `"${termToken(tx.tenant.id, "category", id)}"`;
    const deleted = await get(tx.db, deleteCategoryRow, { tenantId: tx.tenant.id, id, ifMatch, term: token });
    if (!deleted && ifMatch !== null && ifMatch !== version) throw preconditionFailed();
    if (!deleted) throw wrongState(`Category ${named} has products or categories below it. Move them first.`);
    await recordEvent(tx, { type: "category.deleted", subject: id, data: { version } });
    return id;
  });
}

function compileUpdate(names: (keyof CategoryColumns & string)[], merge: boolean) {
  const texts = textChanges(names, merge, sql`${categories} where ${living}`);
  const plain = names.filter((name) => !(merge && isText(name)));
  const changes: SQL[] = [...plain.map((name) => sql`${columnName(name)} = ${param(name)}`), ...texts.changes];
  const guards = [living, sql`version = coalesce(${param("ifMatch")}, version)`, ...texts.guards];
  if (names.includes("parentId")) {
    guards.push(isParent, sql`${depth} + (${below} select max(level) from below) <= ${sql.raw(String(limits.depth))}`);
    guards.push(sql`not exists (${below} select 1 from below where id = ${parentId})`);
  }
  return statement<RenderedCategory>(sql`${texts.start}
    update ${categories} set ${sql.join(changes.concat(sql`updated_at = ${param("now")}`, sql`version = version + 1`), sql`, `)}
    where ${sql.join(guards, sql` and `)}
    returning ${servedJson(sql`rendered`)} as json, version, ${servedLanguage} as language`);
}

async function failedUpdateError(
  tx: Ctx,
  id: string,
  columns: CategoryColumns,
  { merge, lang, ifMatch }: CategoryChange,
) {
  const { json, version } = await getCategory(tx, id);
  if (ifMatch !== null && ifMatch !== version) return preconditionFailed();
  const { lang: own } = JSON.parse(json) as { lang: string };
  const clash = ownLanguageError(columns.translations, merge ? own : (lang ?? own));
  if (clash) return clash;
  if (columns.parentId !== undefined) return placeError(tx, id, columns.parentId);
  return invalidField(columns.translations === undefined ? "lang" : "translations", tooManyLanguages);
}

/** Why a category cannot be at its place. */
async function placeError(tx: Ctx, id: string, parent: string | null | undefined) {
  const place = await get(tx.db, selectParent, { tenantId: tx.tenant.id, id, parentId: parent ?? null });
  if (!place?.is_parent) return invalidField("parent_id", unknownCategory);
  if (place.is_below) return invalidField("parent_id", "must not be the category itself or one below it");
  if (place.level > limits.depth) return invalidField("parent_id", `would make more than ${limits.depth} levels`);
  if (place.categories < limits.categories) return invalidField("translations", tooManyLanguages);
  return wrongState(`The store already has ${limits.categories} categories, the maximum.`);
}

function withDefaults(columns: CategoryColumns) {
  return { parentId: null, description: null, translations: "{}", published: 1 as const, ...columns };
}

import { sql } from "drizzle-orm";
import { type Ctx, isCatalogOnly } from "../../context.ts";
import { keysetList } from "../../db/keyset-list.ts";
import { all, param, statement } from "../../db/statement.ts";
import { forbidden } from "../../errors.ts";
import type { ListPage } from "../../pagination/list-page.ts";
import { parseIds } from "../../pagination/list-query.ts";
import { unknownName } from "../../values/unknown-name.ts";
import { languageChain, servedJson } from "../products/translation.ts";
import { type Category, type CategoryListQuery, categoryFields } from "./model.ts";
import { categories } from "./table.ts";
import { isVisible } from "./visible.ts";

const readPage = keysetList({
  name: "categories",
  fields: categoryFields,
  json: servedJson(sql`rendered`),
  bytes: sql`octet_length(rendered)`,
  from: sql`from ${categories}`,
  conditions: {
    top: sql`${param("top")} and parent_id is null`,
    ids: sql`id in (select value from json_each(${param("ids")}))`,
    isOpen: isVisible("categories"),
  },
  sorts: { position: sql`position`, title: sql`title`, created_at: sql`created_at` },
});

/**
 * One page of the store's categories by keyset; those of all levels, unless the query names a parent.
 * @throws malformedRequest, validationFailed, forbidden for a customer who asks for categories that are not published.
 */
export async function listCategories(ctx: Ctx, query: CategoryListQuery, lang?: string): Promise<ListPage> {
  const { parent_id: parent, slug, published, ids } = query;
  const isOpen = !isCatalogOnly(ctx);
  if (!isOpen && published === false) throw forbidden("Customers and pages can list published categories only.");
  const filters = {
    top: parent === "none" ? 1 : undefined,
    parent_id: parent === "none" ? undefined : parent,
    slug: slug?.normalize("NFC"),
    published: published === undefined ? undefined : Number(published),
    ids: ids === undefined ? undefined : JSON.stringify(parseIds(ids)),
    isOpen: isOpen ? undefined : 0,
  };
  const values = { languages: languageChain(lang, ctx.tenant.language) };
  return readPage(ctx, { sort: "position", ...query }, { filters, values });
}

const selectAll = statement<{ json: string }>(sql`
  select rendered as json from ${categories} where tenant_id = ${param("tenantId")} order by position, id`);

/** All categories of the store, each after the one above it, with its level from 0. */
export async function listCategoryTree(ctx: Ctx): Promise<(Category & { level: number })[]> {
  const rows = (await all(ctx.db, selectAll, { tenantId: ctx.tenant.id })).map(
    ({ json }) => JSON.parse(json) as Category,
  );
  const children = Map.groupBy(rows, (row) => row.parent_id);
  const branch = (parent: string | null, level: number): (Category & { level: number })[] =>
    (children.get(parent) ?? []).flatMap((row) => [{ ...row, level }, ...branch(row.id, level + 1)]);
  return branch(null, 0);
}

/** Finds the id of a category by id or slug. Errors: notFound with the most similar slug. */
export async function resolveCategoryId(ctx: Ctx, named: string): Promise<string> {
  const rows = await listCategoryTree(ctx);
  const found = rows.find(({ id, slug }) => id === named || slug === named.normalize("NFC"));
  if (found) return found.id;
  throw unknownName(
    "category",
    named,
    rows.map(({ slug }) => slug),
    ctx.tenant.namespace,
  );
}

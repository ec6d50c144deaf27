import { sql } from "drizzle-orm";
import { type Ctx, isCatalogOnly } from "../../context.ts";
import { keysetList } from "../../db/keyset-list.ts";
import { all, param, statement } from "../../db/statement.ts";
import type { ListPage } from "../../pagination/list-page.ts";
import { languageChain, servedJson } from "../products/translation.ts";
import { type Category, type CategoryListQuery, categoryFields } from "./model.ts";
import { isVisible } from "./rendering.ts";
import { categories } from "./table.ts";

const readPage = keysetList({
  name: "categories",
  fields: categoryFields,
  json: servedJson(sql`rendered`),
  bytes: sql`octet_length(rendered)`,
  from: sql`from ${categories}`,
  conditions: { top: sql`${param("top")} and parent_id is null`, isOpen: isVisible },
  sorts: { position: sql`position` },
});

/**
 * One page of the store's categories by position; those of all levels, unless the query names a parent. Catalogue readers
 * see published ones only. Errors: malformedRequest, validationFailed.
 */
export async function listCategories(ctx: Ctx, query: CategoryListQuery, lang?: string): Promise<ListPage> {
  const isTop = query.parent_id === "none";
  const filters = {
    top: isTop ? 1 : undefined,
    parent_id: isTop ? undefined : query.parent_id,
    isOpen: isCatalogOnly(ctx) ? 0 : undefined,
  };
  const values = { languages: languageChain(lang, ctx.tenant.language) };
  return readPage(ctx, { ...query, sort: "position" }, { filters, values });
}

const selectAll = statement<{ json: string }>(sql`
  select rendered as json from ${categories} where tenant_id = ${param("tenantId")} order by position, id`);

/** All categories of the store, each after the one above it, with its level from 0. */
export async function listCategoryTree(ctx: Ctx): Promise<(Category & { level: number })[]> {
  const rows = await all(ctx.db, selectAll, { tenantId: ctx.tenant.id });
  const children = Map.groupBy(
    rows.map(({ json }) => JSON.parse(json) as Category),
    (row) => row.parent_id,
  );
  const branch = (parent: string | null, level: number): (Category & { level: number })[] =>
    (children.get(parent) ?? []).flatMap((row) => [{ ...row, level }, ...branch(row.id, level + 1)]);
  return branch(null, 0);
}

import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, param, statement } from "../../db/statement.ts";
import { invalidField } from "../../errors.ts";
import { categories } from "../categories/table.ts";
import type { ProductColumns } from "./input.ts";
import { unknownCategory } from "./product-errors.ts";

const ofStore = sql`select c.id from ${categories} c where c.tenant_id = ${param("tenantId")}`;
const selectIds = statement<{ id: string | null }>(sql`
  select coalesce((${ofStore} and c.id = n.value), (${ofStore} and c.slug = n.value)) as id
  from json_each(${param("names")}) n order by n.key`);

/** Replaces the names of categories, ids or slugs, by their ids. Errors: validationFailed for one of no category. */
export async function resolveCategories<Columns extends ProductColumns>(ctx: Ctx, columns: Columns): Promise<Columns> {
  const { categoryIds = "[]" } = columns;
  if (categoryIds === "[]") return columns;
  const ids = await findCategoryIds(ctx, "category_ids", JSON.parse(categoryIds) as string[]);
  return { ...columns, categoryIds: JSON.stringify(ids) };
}

/** The ids of categories named by ids or slugs, without repetitions. Errors: validationFailed naming the place in `field`. */
export async function findCategoryIds(ctx: Ctx, field: string, names: readonly string[]): Promise<string[]> {
  const asked = JSON.stringify(names.map((name) => name.normalize("NFC")));
  const rows = await all(ctx.db, selectIds, { tenantId: ctx.tenant.id, names: asked });
  const ids = rows.map(({ id }, place) => {
    if (id === null) throw invalidField(`${field}.${place}`, unknownCategory);
    return id;
  });
  return [...new Set(ids)];
}

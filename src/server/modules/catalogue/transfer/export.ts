import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, ofStoreNotDeleted, param, statement } from "../../../db/statement.ts";
import { invalidField } from "../../../errors.ts";
import { writeCsv } from "../../../values/csv-injection.ts";
import { categories } from "../categories/table.ts";
import { products } from "../products/table.ts";
import { type CsvColumn, csvColumns, writeCell } from "./csv-columns.ts";
import type { Fields } from "./import-item.ts";

const pageSize = 200;

const chosen = sql`${ofStoreNotDeleted(products)} and status = coalesce(${param("status")}, status)`;
// A file names categories by their slugs, because ids differ in another store.
const exported = sql`json_set(json_remove(rendered, '$.category_ids'), '$.categories', (select json_group_array(slug) from (
  select c.slug from json_each(category_ids) j join ${categories} c on c.id = j.value order by j.key)))`;
const selectPage = statement<{ id: string; created_at: string; json: string }>(sql`
  select id, created_at, ${exported} as json from ${products} indexed by products_by_created
  where ${chosen} and (created_at, id) > (${param("createdAt")}, ${param("id")})
  order by created_at, id limit ${param("max")}`);

type ExportFilter = { status?: "draft" | "published" | "archived" | null | undefined };

/** Yields the store's products as JSON texts, in pages, oldest first. No product appears twice. */
export async function* exportProducts(ctx: Ctx, { status = null }: ExportFilter = {}): AsyncGenerator<string[]> {
  for (let after = { createdAt: "", id: "" }; ; ) {
    const page = await all(ctx.db, selectPage, { tenantId: ctx.tenant.id, status, ...after, max: pageSize });
    const last = page.at(-1);
    if (last) yield page.map(({ json }) => json);
    if (!last || page.length < pageSize) return;
    after = { createdAt: last.created_at, id: last.id };
  }
}

/** Returns the header and a function that renders a product as CSV. The columns are `names` and the ids. */
export function csvFormat(names?: readonly string[]) {
  const unknown = names?.find((name) => !csvColumns.some((column) => column.name === name));
  const known = csvColumns.map(({ name }) => name).join(", ");
  if (unknown !== undefined) throw invalidField("columns", `names an unknown column: ${unknown}. Columns: ${known}`);
  const isNamed = ({ name }: CsvColumn) => names?.includes(name) ?? true;
  const kinds = new Set(["product", ...csvColumns.filter(isNamed).map(({ of }) => of)]);
  const columns = csvColumns.filter((column) => isNamed(column) || (column.field === "id" && kinds.has(column.of)));
  const render = (json: string) => {
    const product = JSON.parse(json) as Fields & { id: string; slug: string; variants: Fields[] };
    // For an import into another store, people remove the ids. The slug then still shows which lines are one product.
    const { id, slug } = product;
    const [first, ...others] = kinds.has("variant") ? product.variants : [];
    // Only the first line has the product's own columns.
    const lines = [rowOf(columns, product, first), ...others.map((variant) => rowOf(columns, { id, slug }, variant))];
    return writeCsv(lines);
  };
  return { header: writeCsv([columns.map(({ name }) => name)]), render };
}

export const csvTemplate = `sku,title,description,status,price,compare_at_price,stock,tags,categories,images
MUG-1,Enamel mug,Holds 300 ml,published,12.50,,40,kitchen|enamel,,
`;

function rowOf(columns: readonly CsvColumn[], product: Fields, given: Fields = {}): string[] {
  // A price of null is written as a hyphen, so that after an import the variant still uses its product's price.
  const variant = given.has_own_price === false ? { ...given, price: null, compare_at_price: null } : given;
  return columns.map((column) => writeCell(column, (column.of === "product" ? product : variant)[column.field]));
}

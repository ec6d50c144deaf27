import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, get, param, statement } from "../../../db/statement.ts";
import { products } from "../table.ts";

/** So many products are in memory at once. */
const pageSize = 200;

const chosen = sql`tenant_id = ${param("tenantId")} and deleted_at is null
  and status = coalesce(${param("status")}, status)`;
const selectPage = statement<{ id: string; created_at: string; json: string }>(sql`
  select id, created_at, rendered as json from ${products} indexed by products_by_created
  where ${chosen} and (created_at, id) > (${param("createdAt")}, ${param("id")})
  order by created_at, id limit ${param("most")}`);
const countChosen = statement<{ found: number }>(sql`select count(*) as found from ${products} where ${chosen}`);

/** Which products to export. */
export interface ExportFilter {
  status?: "draft" | "published" | "archived" | null | undefined;
}

/**
 * The store's products as JSON texts, oldest first, in pages. Texts are in each product's own language. What is changed
 * meanwhile is told as of the time its page is read; nothing is told twice.
 */
export async function* exportProducts(ctx: Ctx, { status = null }: ExportFilter = {}): AsyncGenerator<string[]> {
  for (let after = { createdAt: "", id: "" }; ; ) {
    const page = await all(ctx.db, selectPage, { tenantId: ctx.tenant.id, status, ...after, most: pageSize });
    const last = page.at(-1);
    if (last) yield page.map(({ json }) => json);
    if (!last || page.length < pageSize) return;
    after = { createdAt: last.created_at, id: last.id };
  }
}

/** How many products an export will tell of, as of now. */
export async function countProducts(ctx: Ctx, { status = null }: ExportFilter = {}): Promise<number> {
  return (await get(ctx.db, countChosen, { tenantId: ctx.tenant.id, status }))?.found ?? 0;
}

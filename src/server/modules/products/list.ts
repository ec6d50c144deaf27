import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { decodeCursor, encodeCursor, type Position } from "../../cursor.ts";
import { type CompiledStatement, get, statement } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { parseMoney } from "../../money.ts";
import { currencyDigits } from "../tenants/currency.ts";
import type { ProductListQuery, ProductSortKey } from "./model.ts";
import { seesDrafts } from "./service.ts";
import { products } from "./table.ts";

const param = sql.placeholder;
const defaultLimit = 20;

const sortColumns: Record<ProductSortKey, SQL> = {
  created_at: sql.raw("created_at"),
  updated_at: sql.raw("updated_at"),
  price: sql.raw("price_minor"),
  title: sql.raw("title"),
};

/** A page of products: their JSON texts in order, and how to go on. */
export interface ProductPage {
  json: string;
  nextCursor: string | null;
  limit: number;
}

interface PageRow {
  /** The products, joined by commas; null when there are none. */
  json: string | null;
  /** JSON array of sort value and id of the page's last row; null when the page is not full. */
  last: string | null;
  has_more: number;
}

/** One statement for each shape of list; there are at most 4 sorts × 2 directions × 16 sets of filters. */
const statements = new Map<string, CompiledStatement<PageRow>>();

/**
 * One page of the tenant's products by keyset, so that the thousandth page costs what the first does, and none is
 * missed or repeated while others are added. Customers see published products only.
 * @throws AppError 5100 for a cursor that is broken or belongs to another list, 5102 for a price at fault, 5300 for a
 * customer who asks for what is not published.
 */
export async function listProducts(ctx: Ctx, query: ProductListQuery): Promise<ProductPage> {
  const limit = query.limit ?? defaultLimit;
  const sort = query.sort ?? "-created_at";
  const descending = sort.startsWith("-");
  const key = (descending ? sort.slice(1) : sort) as ProductSortKey;
  const digits = currencyDigits(ctx.tenant.currency);
  const bound = (field: "price[gte]" | "price[lte]") => {
    const amount = query[field];
    return amount === undefined ? undefined : parseMoney(field, amount, digits);
  };
  if (!seesDrafts(ctx) && query.status !== undefined && query.status !== "published") {
    throw new AppError(5300, "Only published products are open to you.");
  }
  const filters = {
    status: seesDrafts(ctx) ? query.status : "published",
    priceFrom: bound("price[gte]"),
    priceTo: bound("price[lte]"),
  };
  const asked = [ctx.tenant.id, sort, filters.status, filters.priceFrom, filters.priceTo];
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, asked);
  const row = await get(ctx.db, listStatement(key, descending, filters, after), {
    tenantId: ctx.tenant.id,
    ...filters,
    value: after?.value,
    id: after?.id,
    limit,
    lastIndex: limit - 1,
  });
  const last = row?.has_more && row.last ? (JSON.parse(row.last) as [string | number, string]) : undefined;
  const nextCursor = last ? encodeCursor({ value: last[0], id: last[1] }, asked) : null;
  return { json: `[${row?.json ?? ""}]`, nextCursor, limit };
}

/** Page, last position and whether more follows are one statement, and so one snapshot, whatever others write. */
function listStatement(
  key: ProductSortKey,
  descending: boolean,
  filters: { status?: string | undefined; priceFrom?: number | undefined; priceTo?: number | undefined },
  after: Position | undefined,
): CompiledStatement<PageRow> {
  const { status, priceFrom, priceTo } = filters;
  const given = [status, priceFrom, priceTo, after].reduce<number>(
    (bits, value) => bits * 2 + (value === undefined ? 0 : 1),
    descending ? 1 : 0,
  );
  const name = `${key} ${given}`;
  const kept = statements.get(name);
  if (kept) return kept;
  const column = sortColumns[key];
  const conditions = [sql`tenant_id = ${param("tenantId")}`, sql`deleted_at is null`];
  if (filters.status !== undefined) conditions.push(sql`status = ${param("status")}`);
  if (filters.priceFrom !== undefined) conditions.push(sql`price_minor >= ${param("priceFrom")}`);
  if (filters.priceTo !== undefined) conditions.push(sql`price_minor <= ${param("priceTo")}`);
  if (after) {
    conditions.push(sql`(${column}, id) ${sql.raw(descending ? "<" : ">")} (${param("value")}, ${param("id")})`);
  }
  const direction = sql.raw(descending ? "desc" : "asc");
  const from = sql`from ${products} where ${sql.join(conditions, sql` and `)}
    order by ${column} ${direction}, id ${direction}`;
  const made = statement<PageRow>(sql`select
    (select group_concat(rendered) from (select rendered ${from} limit ${param("limit")})) as json,
    (select json_array(${column}, id) ${from} limit 1 offset ${param("lastIndex")}) as last,
    exists(select 1 ${from} limit 1 offset ${param("limit")}) as has_more`);
  statements.set(name, made);
  return made;
}

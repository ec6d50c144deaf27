import type { Ctx } from "../../../context.ts";
import { forbidden } from "../../../errors.ts";
import { parseIds, type RangeBound, readRange, readTimeRange } from "../../../pagination/list-query.ts";
import { parseMoney } from "../../../values/money.ts";
import { toTimestamp } from "../../../values/timestamp.ts";
import { currencyDigits } from "../../tenants/input.ts";
import { isSlug } from "../slug.ts";
import type { ProductListQuery } from "./model.ts";
import { matchExpression } from "./search-words.ts";

/** Filters of a list, as values of parameters. Ranges include both ends. */
export interface ProductFilters {
  status?: string;
  slug?: string;
  /** JSON array. */
  ids?: string;
  /** An FTS5 expression. */
  match?: string;
  priceFrom?: number;
  priceTo?: number;
  createdFrom?: string;
  createdTo?: string;
  updatedFrom?: string;
  updatedTo?: string;
}

/** The filters of a query; null if nothing can match. Errors: validationFailed, forbidden for drafts that the caller may not see. */
export function readFilters(ctx: Ctx, query: ProductListQuery, isOpen: boolean): ProductFilters | null {
  const { status } = query;
  if (!isOpen && status !== undefined && status !== "published") {
    throw forbidden("Customers and pages can list published products only.");
  }
  // Most lists have no range; looking for each by name would cost a tenth of the page.
  const filters: ProductFilters = Object.keys(query).some((name) => name.endsWith("]")) ? readRanges(ctx, query) : {};
  if (!isOpen) filters.status = "published";
  else if (status !== undefined) filters.status = status;
  if (query.slug !== undefined) filters.slug = query.slug.normalize("NFC");
  if (query.ids !== undefined) filters.ids = JSON.stringify(parseIds(query.ids));
  if (query.q !== undefined) {
    const match = matchExpression(ctx.tenant.id, query.q);
    if (match === undefined) return null;
    filters.match = match;
  }
  return filters.ids === "[]" || (filters.slug !== undefined && !isSlug(filters.slug)) ? null : filters;
}

function readRanges(ctx: Ctx, query: ProductListQuery): ProductFilters {
  const digits = currencyDigits(ctx.tenant.currency);
  const price = readRange<number>(query, "price", (field, amount) => parseMoney(field, amount, digits));
  return {
    ...ends(price, "priceFrom", "priceTo"),
    ...ends(readTimeRange(query, "created_at"), "createdFrom", "createdTo"),
    ...ends(readTimeRange(query, "updated_at"), "updatedFrom", "updatedTo"),
  };
}

/** The intersection of all bounds. An exclusive bound becomes the next integer or millisecond. */
function ends(bounds: RangeBound[], from: keyof ProductFilters, to: keyof ProductFilters): ProductFilters {
  const range: Record<string, string | number> = {};
  for (const { operator, value } of bounds) {
    const name = operator.startsWith(">") ? from : to;
    const end = operator === ">" ? step(value, 1) : operator === "<" ? step(value, -1) : value;
    const known = range[name];
    if (known === undefined || (name === from ? end > known : end < known)) range[name] = end;
  }
  return range;
}

function step(value: string | number, by: 1 | -1): string | number {
  return typeof value === "number" ? value + by : toTimestamp(Date.parse(value) + by);
}

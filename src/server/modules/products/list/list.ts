import type { Static } from "@sinclair/typebox";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { invalidField } from "../../../errors.ts";
import { decodeCursor } from "../../../pagination/cursor.ts";
import { type ListPage, readWithinBytes, toListPage } from "../../../pagination/list-page.ts";
import { defaultLimit, parseFields } from "../../../pagination/list-query.ts";
import { LruCache } from "../../../values/lru-cache.ts";
import type { Product } from "../model.ts";
import { languageChain } from "../translation.ts";
import { readFilters } from "./filters.ts";
import { type ProductListQuery, type ProductSortKey, readableFields } from "./model.ts";
import type { PageRow } from "./page-statement.ts";
import { countMatches, findPage, namedBy } from "./plan.ts";

/** Stores known to have translated products. The lists of others get a second query if a page needs it. */
const translated = new LruCache<true>(10_000);

const noRow = { json: null, last: null, has_more: 0, bytes: null, is_cut: null };

export type ProductDocument = Static<typeof Product>;

/**
 * One page of the store's products by keyset. Catalogue readers see published products only. Texts prefer `lang`; `language`
 * has the languages of the titles, separated by commas, and is undefined for an empty page.
 * @throws malformedRequest, validationFailed, forbidden for a catalogue reader who asks for products that are not published.
 */
export async function listProducts(
  ctx: Ctx,
  query: ProductListQuery,
  lang?: string,
): Promise<ListPage & { language?: string; state?: string }> {
  const limit = query.limit ?? defaultLimit;
  const sort = query.sort ?? "-created_at";
  const descending = sort.startsWith("-");
  const key = (descending ? sort.slice(1) : sort) as ProductSortKey;
  if (query.q !== undefined && key !== "created_at") {
    throw invalidField("sort", "must be created_at or -created_at when q is sent");
  }
  const isOpen = !isCatalogOnly(ctx);
  const fields = parseFields(query.fields, readableFields(ctx));
  const filters = readFilters(ctx, query, isOpen);
  const asked = [ctx.tenant.id, "products", sort, filters && Object.entries(filters).sort()];
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, asked);
  if (filters === null) {
    return toListPage({ ...noRow, total: query.include_total ? 0 : null }, { asked, limit, fields });
  }

  const values = {
    ...filters,
    ...(filters.match !== undefined && { words: JSON.stringify(filters.match.split(" AND ")) }),
    tenantId: ctx.tenant.id,
    languages: languageChain(lang, ctx.tenant.language),
    value: after?.value,
    id: after?.id,
  };
  const isTotalAsked = query.include_total ?? false;
  const isCounted = isTotalAsked && namedBy(filters) !== undefined;
  const isServed = translated.get(ctx.tenant.id) !== undefined;
  const shape = { key, descending, filters, isContinued: after !== undefined, isOpen, isCounted };
  const find = (served: boolean) =>
    readWithinBytes(limit, (bounds) => findPage(ctx, { ...shape, isServed: served }, { ...values, ...bounds }));
  let row = await find(isServed);
  if (row?.is_unserved) {
    translated.set(ctx.tenant.id, true);
    row = await find(true);
  }
  const total = isTotalAsked ? (row?.total ?? (await countMatches(ctx, filters, values))) : null;
  return {
    ...toListPage({ ...noRow, ...row, total }, { asked, limit, fields }),
    state: row?.state ?? "",
    ...(row?.first_language != null && { language: languagesOf(row) }),
  };
}

/** The languages of a page. Most pages have one; only others are parsed. */
function languagesOf({ json, first_language: first, last_language: last }: PageRow): string {
  if (first === last) return first as string;
  const documents = JSON.parse(`[${json}]`) as { lang: string }[];
  return [...new Set(documents.map(({ lang }) => lang))].join(", ");
}

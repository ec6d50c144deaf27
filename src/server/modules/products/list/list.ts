import type { Static } from "@sinclair/typebox";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { invalidField } from "../../../errors.ts";
import { decodeCursor } from "../../../pagination/cursor.ts";
import { type ListPage, readWithinBytes, toListPage } from "../../../pagination/list-page.ts";
import { defaultLimit, parseFields } from "../../../pagination/list-query.ts";
import { LruCache } from "../../../values/lru-cache.ts";
import { readCatalogueState } from "../../events/service.ts";
import type { Product } from "../model.ts";
import { languageChain } from "../translation.ts";
import { sortColumns } from "./conditions.ts";
import { correctWords } from "./correct-words.ts";
import { countMatches } from "./count.ts";
import { countFacets, parseFacets } from "./facets.ts";
import { readFilters } from "./filters.ts";
import { type ProductListQuery, type ProductSortKey, readableFields } from "./model.ts";
import type { PageRow } from "./page-statement.ts";
import { findPage, namedBy } from "./plan.ts";
import type { SearchWord } from "./search-words.ts";

/** Stores known to have translated products. The lists of others get a second query if a page needs it. */
const translated = new LruCache<true>(10_000);

const noRow = { json: null, last: null, has_more: 0, bytes: null, is_cut: null };

export type ProductDocument = Static<typeof Product>;

/** Filters that take several statements. */
const searches = ["q", "tag", "category", "option", "on_sale"] as const;

type ProductPage = ListPage & { language?: string; state?: string };

/**
 * One page of the store's products by keyset. Catalogue readers see published products only. Texts prefer `lang`; `language`
 * has the languages of the titles, separated by commas, and is undefined for an empty page. A search that finds nothing
 * is repeated with the words that are one slip away.
 * @throws malformedRequest, validationFailed, forbidden for a catalogue reader who asks for products that are not published.
 */
export async function listProducts(ctx: Ctx, query: ProductListQuery, lang?: string): Promise<ProductPage> {
  const list = await readList(ctx, query, { lang });
  const { q, cursor } = query;
  if (q === undefined || cursor !== undefined || list.page.has_more || list.json !== "[]") return list;
  const words = await correctWords(ctx, q, !isCatalogOnly(ctx));
  return words ? readList(ctx, query, { lang, words }) : list;
}

/** @param words that are searched instead of those of the query. */
async function readList(
  ctx: Ctx,
  query: ProductListQuery,
  { lang, words }: { lang: string | undefined; words?: SearchWord[] },
): Promise<ProductPage> {
  const { limit = defaultLimit, include_total: isTotalAsked = false } = query;
  const fields = parseFields(query.fields, readableFields(ctx));
  const { key, descending, sort } = readSort(query);
  if (query.facets !== undefined) parseFacets(query.facets);
  const isOpen = !isCatalogOnly(ctx);
  const plain = [ctx.tenant.id, "products", sort, isOpen, askedFilters(query)];
  const { after, isCorrected } = readPosition(query, plain);
  // What the page shows is never older than its state, and a search takes several statements.
  const early = searches.some((name) => query[name] !== undefined) ? await readCatalogueState(ctx) : undefined;
  const view = { isOpen, words: isCorrected ? await correctWords(ctx, query.q as string, isOpen) : words };
  const filters = await readFilters(ctx, query, view);
  const asked = view.words ? [...plain, "corrected"] : plain;
  if (filters === null) {
    const none = toListPage({ ...noRow, total: isTotalAsked ? 0 : null }, { asked, limit, fields });
    return addFacets(ctx, query, { list: none, view });
  }

  const values = {
    ...filters,
    tenantId: ctx.tenant.id,
    languages: languageChain(lang, ctx.tenant.language),
    value: after?.value,
    id: after?.id,
  };
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
  const counted = isTotalAsked && row?.total == null ? await countMatches(ctx, filters) : undefined;
  const total = counted?.isWhole ? counted.found : (row?.total ?? null);
  const list = toListPage({ ...noRow, ...row, total }, { asked, limit, fields });
  if (counted?.isWhole === false) list.page.total_is_at_least = counted.found;
  return {
    ...(await addFacets(ctx, query, { list, view })),
    state: early?.state ?? row?.state ?? "",
    ...(row?.first_language != null && { language: languagesOf(row) }),
  };
}

/** The order of a list. Errors: validationFailed for a search by another order than that of the search index. */
function readSort({ q, sort = "-created_at" }: ProductListQuery) {
  const isReversed = sort.startsWith("-");
  const key = (isReversed ? sort.slice(1) : sort) as ProductSortKey;
  if (q === undefined ? key === "relevance" : sortColumns[key] !== "created_at") {
    throw invalidField("sort", "must be relevance, created_at or -created_at when q is sent, and relevance only then");
  }
  return { key, sort, descending: isReversed || key === "popular" || key === "relevance" };
}

/** The position of the cursor, and whether its list is that of a corrected search. Errors: malformedRequest. */
function readPosition({ cursor, q }: ProductListQuery, asked: readonly unknown[]) {
  if (cursor === undefined) return { after: undefined, isCorrected: false };
  try {
    return { after: decodeCursor(cursor, asked), isCorrected: false };
  } catch (error) {
    if (q === undefined) throw error;
    return { after: decodeCursor(cursor, [...asked, "corrected"]), isCorrected: true };
  }
}

async function addFacets(
  ctx: Ctx,
  query: ProductListQuery,
  { list, view }: { list: ListPage; view: Parameters<typeof countFacets>[2] },
): Promise<ListPage> {
  if (query.facets === undefined) return list;
  return { ...list, page: { ...list.page, facets: await countFacets(ctx, query, view) } };
}

/** What of a query determines the rows and their order. */
function askedFilters(query: ProductListQuery): unknown[] {
  const { limit: _1, cursor: _2, fields: _3, include_total: _4, facets: _5, ...filters } = query;
  return Object.entries(filters).sort();
}

/** The languages of a page. Most pages have one; only others are parsed. */
function languagesOf({ json, first_language: first, last_language: last }: PageRow): string {
  if (first === last) return first as string;
  const documents = JSON.parse(`[${json}]`) as { lang: string }[];
  return [...new Set(documents.map(({ lang }) => lang))].join(", ");
}

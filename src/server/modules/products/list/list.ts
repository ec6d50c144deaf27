import type { Static } from "@sinclair/typebox";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { invalidField } from "../../../errors.ts";
import { decodeCursor } from "../../../pagination/cursor.ts";
import { type ListPage, readWithinBytes, toListPage } from "../../../pagination/list-page.ts";
import { defaultLimit, parseFields } from "../../../pagination/list-query.ts";
import { LruCache } from "../../../values/lru-cache.ts";
import { freeTurn } from "../../../values/turns.ts";
import { readCatalogueState } from "../../events/service.ts";
import type { Product } from "../model.ts";
import { languageChain } from "../translation.ts";
import { sortColumns } from "./conditions.ts";
import { correctWords } from "./correct-words.ts";
import { countFacets, parseFacets } from "./facets.ts";
import { readFilters } from "./filters.ts";
import { type ProductListQuery, type ProductSortKey, readableFields } from "./model.ts";
import type { PageRow } from "./page-statement.ts";
import { countMatches, findPage, namedBy } from "./plan.ts";

/** Stores known to have translated products. The lists of others get a second query if a page needs it. */
const translated = new LruCache<true>(10_000);

const noRow = { json: null, last: null, has_more: 0, bytes: null, is_cut: null };

export type ProductDocument = Static<typeof Product>;

/** Filters that take several statements. */
const searches = ["q", "tag", "category", "option", "on_sale"] as const;

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
  const { q, cursor, limit = defaultLimit, include_total: isTotalAsked = false } = query;
  const fields = parseFields(query.fields, readableFields(ctx));
  const { key, descending, sort } = readSort(query);
  const facets = query.facets === undefined ? undefined : parseFacets(query.facets);
  const isOpen = !isCatalogOnly(ctx);
  const asked = [ctx.tenant.id, "products", sort, isOpen, askedFilters(query)];
  const after = cursor === undefined ? undefined : decodeCursor(cursor, asked);
  // The page is never older than its state, and a search takes several statements.
  const isSearch = searches.some((name) => query[name] !== undefined);
  // Beside the other requests of the store, which are short.
  if (isSearch || facets !== undefined) await freeTurn(ctx.tenant.id);
  const early = isSearch ? await readCatalogueState(ctx) : undefined;
  const words = q === undefined ? undefined : await correctWords(ctx, q);
  const filters = await readFilters(ctx, query, words);
  const find = (isServed: boolean) => {
    if (filters === null) return undefined;
    const languages = languageChain(lang, ctx.tenant.language);
    const values = { ...filters, tenantId: ctx.tenant.id, languages, value: after?.value, id: after?.id };
    const isCounted = isTotalAsked && namedBy(filters) !== undefined;
    const shape = { key, descending, filters, isContinued: after !== undefined, isOpen, isCounted, isServed };
    return readWithinBytes(limit, (bounds) => findPage(ctx, shape, { ...values, ...bounds }));
  };
  let row = await find(translated.get(ctx.tenant.id) !== undefined);
  if (row?.is_unserved) {
    translated.set(ctx.tenant.id, true);
    row = await find(true);
  }
  const counted = isTotalAsked && row?.total == null ? await countMatches(ctx, filters) : undefined;
  const total = counted?.isWhole ? counted.found : (row?.total ?? null);
  const list = toListPage({ ...noRow, ...row, total }, { asked, limit, fields });
  if (counted?.isWhole === false) list.page.total_is_at_least = counted.found;
  if (facets !== undefined) await freeTurn(ctx.tenant.id);
  if (facets !== undefined) list.page.facets = await countFacets(ctx, facets, query, words);
  return {
    ...list,
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

/** The parts of a query that determine the rows and their order. */
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

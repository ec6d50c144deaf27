import type { Static } from "@sinclair/typebox";
import { yieldToEventLoop } from "../../../concurrency/event-loop.ts";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { invalidField } from "../../../errors.ts";
import { decodeCursor, readWithinBytes, toListPage } from "../../../pagination/list-page.ts";
import { defaultLimit, parseFields, parseNames } from "../../../pagination/list-query.ts";
import { LruCache } from "../../../values/lru-cache.ts";
import { readCatalogueState } from "../../events/service.ts";
import type { Product } from "../products/model.ts";
import { languageChain } from "../products/translation.ts";
import { countFacets, type Facet, facetNames } from "./facets.ts";
import { correctWords, readFilters, refuseJoinedTags } from "./filters.ts";
import { type ProductListQuery, type ProductSortKey, readableFields } from "./model.ts";
import type { PageRow } from "./page-statement.ts";
import { countMatches, findPage, uniqueFilter } from "./plan.ts";

/** Ids of stores that are known to have translations. In other stores, a page that needs translations is read twice. */
const translated = new LruCache<true>(10_000);

export type ProductDocument = Static<typeof Product>;

const searches = ["q", "sku", "tag", "category", "option", "on_sale"] as const;

/** Lists products. Errors: malformedRequest, validationFailed, forbidden. */
export async function listProducts(ctx: Ctx, query: ProductListQuery, lang?: string) {
  const { q, cursor, limit = defaultLimit, include_total: isTotalAsked = false } = query;
  const fields = parseFields(query.fields, readableFields(ctx));
  const { key, descending, sort } = readSort(query);
  const names = query.facets === undefined ? undefined : parseNames("facets", query.facets, facetNames);
  const includesDrafts = !isCatalogOnly(ctx);
  const asked = [ctx.tenant.id, "products", sort, includesDrafts, askedFilters(query)];
  const after = cursor === undefined ? undefined : decodeCursor(cursor, asked);
  // A search runs several statements. The state for the ETag is read first, because a later state could hide a change.
  const isSearch = searches.some((name) => query[name] !== undefined);
  // Searches and facets wait in a separate queue, so that they do not delay the store's short requests.
  if (isSearch || names !== undefined) await yieldToEventLoop(ctx.tenant.id, ctx);
  const early = isSearch ? await readCatalogueState(ctx) : undefined;
  const words = q === undefined ? undefined : await correctWords(ctx, q);
  const filters = await readFilters(ctx, query, words);
  const find = (isLocalized: boolean) => {
    if (filters === null) return undefined;
    const languages = languageChain(lang, ctx.tenant.language);
    const { id: tenantId, language } = ctx.tenant;
    const values = { ...filters, tenantId, language, languages, value: after?.value, id: after?.id };
    const isCounted = isTotalAsked && uniqueFilter(filters) !== undefined;
    const plan = { key, descending, filters, isContinued: after !== undefined, includesDrafts, isCounted, isLocalized };
    return readWithinBytes(limit, (bounds) => findPage(ctx, plan, { ...values, ...bounds }));
  };
  const row = await findLocalized(ctx, find);
  if (row?.json == null) await refuseJoinedTags(ctx, query);
  const counted = isTotalAsked && row?.total == null ? await countMatches(ctx, filters) : undefined;
  const list = toListPage(row, { asked, limit, fields });
  if (counted) list.page[counted.isWhole ? "total" : "total_is_at_least"] = counted.found;
  if (names !== undefined) {
    await yieldToEventLoop(ctx.tenant.id, ctx);
    list.page.facets = await countFacets(ctx, names as Facet[], { query, words, lang });
  }
  return { ...list, state: early?.state ?? row?.state ?? "" };
}

/** Reads a page. If a row needs a translation and the page was read without translations, reads the page again. */
async function findLocalized(ctx: Ctx, find: (isLocalized: boolean) => Promise<PageRow | undefined> | undefined) {
  const row = await find(translated.get(ctx.tenant.id) !== undefined);
  if (!row?.needsLocalization) return row;
  translated.set(ctx.tenant.id, true);
  return find(true);
}

function readSort({ q, sort = "-created_at" }: ProductListQuery) {
  const isReversed = sort.startsWith("-");
  const key = (isReversed ? sort.slice(1) : sort) as ProductSortKey;
  if (q === undefined && key === "relevance") throw invalidField("sort", "can be relevance only when q is sent");
  return { key, sort, descending: isReversed || key === "popular" || key === "relevance" };
}

function askedFilters(query: ProductListQuery): unknown[] {
  const { limit: _1, cursor: _2, fields: _3, include_total: _4, facets: _5, ...filters } = query;
  // Sorts by name. Comparing whole entries would fail, because the value of `option` has no `toString`.
  return Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1));
}

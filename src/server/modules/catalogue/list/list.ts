import type { Static } from "@sinclair/typebox";
import { and } from "drizzle-orm";
import { yieldToEventLoop } from "../../../concurrency/event-loop.ts";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { ofStore } from "../../../db/conditions.ts";
import { all, statement } from "../../../db/statement.ts";
import { invalidField } from "../../../errors.ts";
import { decodeCursor } from "../../../pagination/cursor.ts";
import { type ListPage, type ProductFacets, readWithinBytes, toListPage } from "../../../pagination/list-page.ts";
import { defaultLimit, parseFields, parseNames } from "../../../pagination/list-query.ts";
import { LruCache } from "../../../values/lru-cache.ts";
import { readCatalogueState } from "../../events/service.ts";
import { currencyDigits } from "../../tenants/input.ts";
import { categories, isVisible } from "../categories/table.ts";
import type { Product } from "../products/model.ts";
import { languageChain, localizedTitle } from "../products/translation.ts";
import { correctWords } from "./correct-words.ts";
import { readFilters, requireKnownTerms } from "./filters.ts";
import { type ProductListQuery, type ProductSortKey, readableFields } from "./model.ts";
import type { PageRow } from "./page-statement.ts";
import { countMatches, findPage, scanMatches, uniqueFilter } from "./plan.ts";
import { optionKey } from "./search.ts";
import type { SearchWord } from "./search-words.ts";

/** Stores known to have products in several languages. The lists of others get a second query if a page needs it. */
const translated = new LruCache<true>(10_000);

export type ProductDocument = Static<typeof Product>;

const searches = ["q", "sku", "tag", "category", "option", "on_sale"] as const;

/** `language` has the languages of the titles. Errors: malformedRequest, validationFailed, forbidden for drafts. */
export async function listProducts(
  ctx: Ctx,
  query: ProductListQuery,
  lang?: string,
): Promise<ListPage & { language?: string; state?: string }> {
  const { q, cursor, limit = defaultLimit, include_total: isTotalAsked = false } = query;
  const fields = parseFields(query.fields, readableFields(ctx));
  const { key, descending, sort } = readSort(query);
  const names = query.facets === undefined ? undefined : parseNames("facets", query.facets, Object.keys(facets));
  const isOpen = !isCatalogOnly(ctx);
  const asked = [ctx.tenant.id, "products", sort, isOpen, askedFilters(query)];
  const after = cursor === undefined ? undefined : decodeCursor(cursor, asked);
  // The page is never older than its state, and a search takes several statements.
  const isSearch = searches.some((name) => query[name] !== undefined);
  // Beside the other requests of the store, which are short.
  if (isSearch || names !== undefined) await yieldToEventLoop(ctx.tenant.id, ctx);
  const early = isSearch ? await readCatalogueState(ctx) : undefined;
  const words = q === undefined ? undefined : await correctWords(ctx, q);
  const filters = await readFilters(ctx, query, words);
  const find = (isServed: boolean) => {
    if (filters === null) return undefined;
    const languages = languageChain(lang, ctx.tenant.language);
    const { id: tenantId, language } = ctx.tenant;
    const values = { ...filters, tenantId, language, languages, value: after?.value, id: after?.id };
    const isCounted = isTotalAsked && uniqueFilter(filters) !== undefined;
    const shape = { key, descending, filters, isContinued: after !== undefined, isOpen, isCounted, isServed };
    return readWithinBytes(limit, (bounds) => findPage(ctx, shape, { ...values, ...bounds }));
  };
  let row = await find(translated.get(ctx.tenant.id) !== undefined);
  if (row?.needsLocalization) {
    translated.set(ctx.tenant.id, true);
    row = await find(true);
  }
  if (row?.json == null) await requireKnownTerms(ctx, query);
  const counted = isTotalAsked && row?.total == null ? await countMatches(ctx, filters) : undefined;
  const list = toListPage(row, { asked, limit, fields });
  if (counted) list.page[counted.isWhole ? "total" : "total_is_at_least"] = counted.found;
  if (names !== undefined) await yieldToEventLoop(ctx.tenant.id, ctx);
  if (names !== undefined) list.page.facets = await countFacets(ctx, names as Facet[], { query, words, lang });
  return {
    ...list,
    state: early?.state ?? row?.state ?? "",
    ...(row?.json != null && { language: languagesOf(row, ctx.tenant.language) }),
  };
}

function readSort({ q, sort = "-created_at" }: ProductListQuery) {
  const isReversed = sort.startsWith("-");
  const key = (isReversed ? sort.slice(1) : sort) as ProductSortKey;
  if (q === undefined && key === "relevance") throw invalidField("sort", "can be relevance only when q is sent");
  return { key, sort, descending: isReversed || key === "popular" || key === "relevance" };
}

function askedFilters(query: ProductListQuery): unknown[] {
  const { limit: _1, cursor: _2, fields: _3, include_total: _4, facets: _5, ...filters } = query;
  // By name: comparing whole entries would need a text of `option`, which has no prototype.
  return Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1));
}

function languagesOf({ json, first_language: first, last_language: last }: PageRow, ofStore: string): string {
  if (first === last) return first ?? ofStore;
  const documents = JSON.parse(`[${json}]`) as { lang: string }[];
  return [...new Set(documents.map(({ lang }) => lang))].join(", ");
}

const maxValues = 100;

/** Tags, category ids, price in minor units, and the options of variants as JSON. */
type Match = [tags: string[], categoryIds: string[], price: number, variants: string[]];
type Counted = { query: ProductListQuery; words: SearchWord[] | undefined; lang: string | undefined };
type Count = (ctx: Ctx, matches: readonly Match[], list: Counted) => Promise<object[]> | object[];

const facets = {
  tags: { own: (name: string) => name === "tag", count: (_, matches) => rankValues(matches.map(([tags]) => tags)) },
  categories: { own: (name: string) => name === "category", count: countCategories },
  options: { own: (name: string) => name === "option", count: countOptions },
  price: { own: (name: string) => name.startsWith("price["), count: countPrices },
} satisfies Record<string, { own: (name: string) => boolean; count: Count }>;
type Facet = keyof typeof facets;

async function countFacets(ctx: Ctx, names: Facet[], list: Counted): Promise<ProductFacets> {
  const hasOptions = names.includes("options") ? 1 : 0;
  const scans = new Map<string, { matches: unknown[]; isWhole: boolean }>();
  const result: Record<string, object> = {};
  for (const name of new Set(names)) {
    const { own, count } = facets[name];
    const rest = Object.fromEntries(Object.entries(list.query).filter(([filter]) => !own(filter))) as ProductListQuery;
    const key = JSON.stringify(rest);
    const filters = scans.has(key) ? null : await readFilters(ctx, rest, list.words);
    const scan = () => filters && scanMatches(ctx, { ...filters, hasOptions }, "facets");
    const found = scans.get(key) ?? (await scan()) ?? { matches: [], isWhole: true };
    scans.set(key, found);
    result[name] = { values: await count(ctx, found.matches as Match[], list), is_complete: found.isWhole };
  }
  return result;
}

function tally<Value>(sets: Value[][]): Map<Value, number> {
  const counts = new Map<Value, number>();
  for (const value of sets.flat()) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function rankValues(sets: string[][]): { value: string; count: number }[] {
  const ranked = [...tally(sets)].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, maxValues);
  return ranked.map(([value, count]) => ({ value, count }));
}

const columns = { id: categories.id, slug: categories.slug, title: localizedTitle, parent: categories.parentId };
const isListed = and(ofStore(categories), isVisible);
const selectCategories = statement((q) => q.select(columns).from(categories).where(isListed));

async function countCategories(ctx: Ctx, matches: readonly Match[], { lang }: Counted): Promise<object[]> {
  const languages = languageChain(lang, ctx.tenant.language);
  const values = { tenantId: ctx.tenant.id, isOpen: isCatalogOnly(ctx) ? 0 : 1, languages };
  const known = new Map((await all(ctx.db, selectCategories, values)).map((row) => [row.id, row]));
  const withAbove = (id: string | null): string[] => {
    const row = id === null ? undefined : known.get(id);
    return row ? [row.id, ...withAbove(row.parent)] : [];
  };
  const ranked = rankValues(matches.map(([, ids]) => [...new Set(ids.flatMap(withAbove))]));
  return ranked.map(({ value: id, count }) => ({ ...known.get(id), id, parent: undefined, count }));
}

/** A product counts for each value of a variant that has the other options that the list asks for. */
function countOptions(_: Ctx, matches: readonly Match[], { query: { option = {} } }: Counted): object[] {
  const asked = Object.entries(option).map((pair) => [pair[0].normalize("NFC"), optionKey(pair)] as const);
  const valuesOf = (variant: string) => {
    const pairs = JSON.parse(variant) as [string, string][];
    const keys = pairs.map(optionKey);
    return keys.filter((_, at) => asked.every(([name, key]) => name === pairs[at]?.[0] || keys.includes(key)));
  };
  // Most have the same options as many others.
  const different = new Set(matches.flatMap(([, , , variants]) => variants));
  const known = new Map([...different].map((one) => [one, valuesOf(one)]));
  const sets = matches.map(([, , , variants]) => [...new Set(variants.flatMap((one) => known.get(one) ?? []))]);
  return rankValues(sets).map(({ value: key, count }) => {
    const [name, value] = JSON.parse(key) as string[];
    return { name, value, count };
  });
}

const bounds = [0, ...Array.from({ length: 17 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat()];

function countPrices({ tenant }: Ctx, matches: readonly Match[]): object[] {
  const major = 10 ** currencyDigits(tenant.currency);
  const places = matches.map(([, , price]) => [bounds.findLastIndex((bound) => bound <= price / major)]);
  const counts = [...tally(places)].sort(([a], [b]) => a - b);
  return counts.map(([place, count]) => ({ gte: bounds[place], lt: bounds[place + 1], count }));
}

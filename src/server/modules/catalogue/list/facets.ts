import { and } from "drizzle-orm";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { all, ofStore, statement } from "../../../db/statement.ts";
import type { ProductFacets } from "../../../pagination/list-page.ts";
import { currencyDigits } from "../../tenants/input.ts";
import { categories, isVisible } from "../categories/table.ts";
import { languageChain, localizedTitle } from "../products/translation.ts";
import { readFilters } from "./filters.ts";
import type { ProductListQuery } from "./model.ts";
import { scanMatches } from "./plan.ts";
import { optionKey } from "./search.ts";
import type { SearchWord } from "./search-words.ts";

const maxValues = 100;

/** The fields of a product that facets count. The price is in minor units. A variant is the JSON of its options. */
type Match = [tags: string[], categoryIds: string[], price: number, variants: string[]];
type Counted = { query: ProductListQuery; words: SearchWord[] | undefined; lang: string | undefined };
type Count = (ctx: Ctx, matches: readonly Match[], list: Counted) => Promise<object[]> | object[];

/** Each facet has `own`, the prefix of the names of its filters, and a function that counts its values. */
const facets = {
  tags: { own: "tag", count: (_, matches) => rankValues(matches.map(([tags]) => tags)) },
  categories: { own: "category", count: countCategories },
  options: { own: "option", count: countOptions },
  price: { own: "price[", count: countPrices },
} satisfies Record<string, { own: string; count: Count }>;
export type Facet = keyof typeof facets;

export const facetNames = Object.keys(facets);

/** Counts each facet's values in the products that match the filters of the list, without the facet's own filters. */
export async function countFacets(ctx: Ctx, names: Facet[], list: Counted): Promise<ProductFacets> {
  const hasOptions = names.includes("options") ? 1 : 0;
  const scans = new Map<string, { matches: unknown[]; isWhole: boolean }>();
  const result: Record<string, object> = {};
  for (const name of new Set(names)) {
    const { own, count } = facets[name];
    const others = Object.entries(list.query).filter(([filter]) => !filter.startsWith(own));
    const rest = Object.fromEntries(others) as ProductListQuery;
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
  const values = { tenantId: ctx.tenant.id, includesDrafts: isCatalogOnly(ctx) ? 0 : 1, languages };
  const known = new Map((await all(ctx.db, selectCategories, values)).map((row) => [row.id, row]));
  const withAbove = (id: string | null): string[] => {
    const row = id === null ? undefined : known.get(id);
    return row ? [row.id, ...withAbove(row.parent)] : [];
  };
  const ranked = rankValues(matches.map(([, ids]) => [...new Set(ids.flatMap(withAbove))]));
  return ranked.map(({ value: id, count }) => ({ ...known.get(id), id, parent: undefined, count }));
}

/** Counts products by option value. One variant must have the value and match the filters of all other options. */
function countOptions(_: Ctx, matches: readonly Match[], { query: { option = {} } }: Counted): object[] {
  const asked = Object.entries(option).map((pair) => [pair[0].normalize("NFC"), optionKey(pair)] as const);
  const valuesOf = (variant: string) => {
    const pairs = JSON.parse(variant) as [string, string][];
    const keys = pairs.map(optionKey);
    return keys.filter((_, at) => asked.every(([name, key]) => name === pairs[at]?.[0] || keys.includes(key)));
  };
  // Many variants have the same options, so each set is parsed once.
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

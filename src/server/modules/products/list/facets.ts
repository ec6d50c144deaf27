import { sql } from "drizzle-orm";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { all, param, statement } from "../../../db/statement.ts";
import type { ProductFacets } from "../../../pagination/list-page.ts";
import { parseNames } from "../../../pagination/list-query.ts";
import { categories, isVisible } from "../../categories/table.ts";
import { currencyDigits } from "../../tenants/input.ts";
import { readFilters } from "./filters.ts";
import type { ProductListQuery } from "./model.ts";
import { scanMatches } from "./plan.ts";
import type { SearchWord } from "./search-words.ts";

/** Values of one facet, those of most products. */
const maxValues = 100;

/** The columns of a match: tags, category ids, price in minor units. */
type Match = [tags: string[], categoryIds: string[], price: number];
type Count = (ctx: Ctx, matches: readonly Match[]) => Promise<object[]> | object[];

const facets = {
  tags: { own: (name: string) => name === "tag", count: countTags },
  categories: { own: (name: string) => name === "category", count: countCategories },
  price: { own: (name: string) => name.startsWith("price["), count: countPrices },
} satisfies Record<string, { own: (name: string) => boolean; count: Count }>;
type Facet = keyof typeof facets;

/** The facets that a list names. Errors: validationFailed for another name. */
export function parseFacets(text: string): Facet[] {
  return [...new Set(parseNames("facets", text, Object.keys(facets)))] as Facet[];
}

/** How many products have each value of a facet, among those that the filters other than its own leave. */
export async function countFacets(
  ctx: Ctx,
  names: Facet[],
  query: ProductListQuery,
  words: SearchWord[] | undefined,
): Promise<ProductFacets> {
  const scans = new Map<string, { matches: unknown[]; isWhole: boolean }>();
  const result: Record<string, object> = {};
  for (const name of names) {
    const { own, count } = facets[name];
    const rest = Object.fromEntries(Object.entries(query).filter(([filter]) => !own(filter))) as ProductListQuery;
    const key = JSON.stringify(rest);
    const filters = scans.has(key) ? null : await readFilters(ctx, rest, words);
    const found =
      scans.get(key) ?? (filters ? await scanMatches(ctx, filters, "facets") : { matches: [], isWhole: true });
    scans.set(key, found);
    result[name] = { values: await count(ctx, found.matches as Match[]), is_complete: found.isWhole };
  }
  return result;
}

/** Each value with the number of sets that have it. */
function tally<Value>(sets: Value[][]): Map<Value, number> {
  const counts = new Map<Value, number>();
  for (const value of sets.flat()) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function rankValues(sets: string[][]): [value: string, count: number][] {
  return [...tally(sets)].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, maxValues);
}

function countTags(_: Ctx, matches: readonly Match[]): object[] {
  return rankValues(matches.map(([tags]) => tags)).map(([value, count]) => ({ value, count }));
}

const selectCategories = statement<{ id: string; slug: string; parent: string | null }>(sql`
  select id, slug, parent_id as parent from ${categories}
  where tenant_id = ${param("tenantId")} and ${isVisible}`);

/** A product counts once for each of its categories, and for each above them. */
async function countCategories(ctx: Ctx, matches: readonly Match[]): Promise<object[]> {
  const values = { tenantId: ctx.tenant.id, isOpen: isCatalogOnly(ctx) ? 0 : 1 };
  const known = new Map((await all(ctx.db, selectCategories, values)).map((row) => [row.id, row]));
  const withAbove = (id: string | null): string[] => {
    const row = id === null ? undefined : known.get(id);
    return row ? [row.id, ...withAbove(row.parent)] : [];
  };
  const counts = rankValues(matches.map(([, ids]) => [...new Set(ids.flatMap(withAbove))]));
  return counts.map(([id, count]) => ({ id, slug: known.get(id)?.slug, count }));
}

/** The bounds of price ranges: 0, and 1, 2 and 5 times each power of ten. */
const bounds = [0, ...Array.from({ length: 17 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat()];

function countPrices({ tenant }: Ctx, matches: readonly Match[]): object[] {
  const major = 10 ** currencyDigits(tenant.currency);
  const places = matches.map(([, , price]) => [bounds.findLastIndex((bound) => bound <= price / major)]);
  const counts = [...tally(places)].sort(([a], [b]) => a - b);
  return counts.map(([place, count]) => ({ gte: bounds[place], lt: bounds[place + 1], count }));
}

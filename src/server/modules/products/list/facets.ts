import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, param, statement } from "../../../db/statement.ts";
import { invalidField } from "../../../errors.ts";
import type { ProductFacets } from "../../../pagination/list-page.ts";
import { categories } from "../../categories/table.ts";
import { isVisible } from "../../categories/visible.ts";
import { currencyDigits } from "../../tenants/input.ts";
import { scanMatches } from "./count.ts";
import { readFilters } from "./filters.ts";
import type { ProductListQuery } from "./model.ts";

/** Values of one facet, those of most products. */
const maxValues = 100;

/** The columns of a match: tags, category ids, price in minor units. */
type Match = [tags: string[], categoryIds: string[], price: number];
type Count = (ctx: Ctx, matches: readonly Match[], isOpen: boolean) => Promise<object[]> | object[];

const facets = {
  tags: { own: (name: string) => name === "tag", count: countTags },
  categories: { own: (name: string) => name === "category", count: countCategories },
  price: { own: (name: string) => name.startsWith("price["), count: countPrices },
} satisfies Record<string, { own: (name: string) => boolean; count: Count }>;
type Facet = keyof typeof facets;

type View = Parameters<typeof readFilters>[2];

/** The facets that a list names. Errors: validationFailed for another name. */
export function parseFacets(text: string): Facet[] {
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  if (names.every((name) => Object.hasOwn(facets, name))) return names as Facet[];
  throw invalidField("facets", `must be a comma-separated list of the names ${Object.keys(facets).join(", ")}`);
}

/** How many products have each value of a facet, among those that the filters other than its own leave. */
export async function countFacets(ctx: Ctx, query: ProductListQuery, view: View): Promise<ProductFacets> {
  const scans = new Map<string, { matches: Match[]; isWhole: boolean }>();
  const result: Record<string, object> = {};
  for (const name of parseFacets(query.facets ?? "")) {
    const { own, count } = facets[name];
    const rest = Object.fromEntries(Object.entries(query).filter(([filter]) => !own(filter))) as ProductListQuery;
    const key = JSON.stringify(rest);
    const found = scans.get(key) ?? (await scanAll(ctx, rest, view));
    scans.set(key, found);
    result[name] = { values: await count(ctx, found.matches, view.isOpen), is_complete: found.isWhole };
  }
  return result as ProductFacets;
}

async function scanAll(ctx: Ctx, query: ProductListQuery, view: View) {
  const filters = await readFilters(ctx, query, view);
  const { matches, isWhole } = filters ? await scanMatches(ctx, filters, "facets") : { matches: [], isWhole: true };
  return { matches: matches as Match[], isWhole };
}

function rankValues(sets: Iterable<Iterable<string>>): [value: string, count: number][] {
  const counts = new Map<string, number>();
  for (const set of sets) for (const value of set) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, maxValues);
}

function countTags(_: Ctx, matches: readonly Match[]): object[] {
  return rankValues(matches.map(([tags]) => tags)).map(([value, count]) => ({ value, count }));
}

const selectCategories = statement<{ id: string; slug: string; parent: string | null }>(sql`
  select id, slug, parent_id as parent from ${categories}
  where tenant_id = ${param("tenantId")} and ${isVisible("categories")}`);

/** A product counts once for each of its categories, and for each above them. */
async function countCategories(ctx: Ctx, matches: readonly Match[], isOpen: boolean): Promise<object[]> {
  const rows = await all(ctx.db, selectCategories, { tenantId: ctx.tenant.id, isOpen: isOpen ? 1 : 0 });
  const known = new Map(rows.map((row) => [row.id, row]));
  const above = new Map<string, string[]>();
  const withAbove = (id: string): string[] => {
    let ids = above.get(id);
    if (ids) return ids;
    ids = [];
    for (let row = known.get(id); row; row = row.parent === null ? undefined : known.get(row.parent)) ids.push(row.id);
    above.set(id, ids);
    return ids;
  };
  const counts = rankValues(matches.map(([, ids]) => new Set(ids.flatMap(withAbove))));
  return counts.map(([id, count]) => ({ id, slug: known.get(id)?.slug, count }));
}

/** Prices by ranges whose bounds are 1, 2 and 5, and their multiples by powers of ten; the first begins at 0. */
function countPrices({ tenant }: Ctx, matches: readonly Match[]): object[] {
  const major = 10 ** currencyDigits(tenant.currency);
  const counts = new Map<number, { gte: number; lt: number; count: number }>();
  for (const [, , price] of matches) {
    const [gte, lt] = rangeOf(price / major);
    const range = counts.get(gte) ?? { gte, lt, count: 0 };
    range.count++;
    counts.set(gte, range);
  }
  return [...counts.values()].sort((a, b) => a.gte - b.gte);
}

function rangeOf(price: number): [gte: number, lt: number] {
  let [gte, lt] = [0, 1];
  for (let power = 1; price >= lt; power *= 10) {
    for (const bound of [2, 5, 10]) if (price >= lt) [gte, lt] = [lt, bound * power];
  }
  return [gte, lt];
}

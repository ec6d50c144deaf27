import { sql } from "drizzle-orm";
import { isTickOverBudget, nextTurn } from "../../../concurrency/event-loop.ts";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { timeFilters } from "../../../db/keyset-list.ts";
import { all, param, statement } from "../../../db/statement.ts";
import { forbidden, invalidField } from "../../../errors.ts";
import { parseIds, readRange } from "../../../pagination/list-query.ts";
import { parseMoney } from "../../../values/money.ts";
import { currencyDigits } from "../../tenants/input.ts";
import { categories, isVisible } from "../categories/table.ts";
import { unknownCategory } from "../products/resolve.ts";
import { isSlug } from "../products/slug.ts";
import { products } from "../products/table.ts";
import type { ProductListQuery } from "./model.ts";
import { optionKey, skuKey } from "./search.ts";
import { minStem, type SearchWord, searchWords, stemOf, stemToken, type TermKind, termToken } from "./search-words.ts";

type Texts = "status" | "slug" | "ids" | "tags" | "categories" | "options" | "words" | "titles" | "terms";
/** The name of a range's bound, such as `created_at >=`. */
type Bound = `${"price_minor" | "created_at" | "updated_at"} ${string}`;
/**
 * The filters of a list, as parameters of SQL. Filters with several values are JSON arrays. Three contain FTS5
 * expressions: `words` for words anywhere, `titles` for words in titles, `terms` for other filters of the search index.
 */
export type ProductFilters = Partial<
  Record<Texts, string> & Record<Bound, string | number> & Record<"available" | "onSale" | "hasOptions", 0 | 1>
>;

/** Returns a query's filters; null if nothing can match. Errors: validationFailed; forbidden for drafts. */
export async function readFilters(ctx: Ctx, query: ProductListQuery, words: SearchWord[] | undefined) {
  // Most queries have no range. Reading ranges only if a name ends with `]` makes a page a tenth faster.
  const filters: ProductFilters = Object.keys(query).some((name) => name.endsWith("]")) ? readRanges(ctx, query) : {};
  const status = readStatus(ctx, query);
  if (status !== undefined) filters.status = status;
  if (query.slug !== undefined) filters.slug = query.slug.normalize("NFC");
  if (query.ids !== undefined) filters.ids = JSON.stringify(parseIds(query.ids));
  if (query.available) filters.available = 1;
  if (filters.ids === "[]" || (filters.slug !== undefined && !isSlug(filters.slug)) || words?.length === 0) return null;
  const found = words?.map(({ anywhere }) => anywhere) ?? [];
  if (query.sku !== undefined) found.push(`"${termToken(ctx.tenant.id, "sku", skuKey(query.sku))}"`);
  if (found.length > 0) filters.words = JSON.stringify(found);
  if (words !== undefined) filters.titles = JSON.stringify(words.map(({ inTitle }) => inTitle));
  const terms = await readTerms(ctx, query, filters);
  if (terms.length === 0 && filters.words === undefined) return filters;
  if (filters.status !== undefined) terms.push(`"${termToken(ctx.tenant.id, "status", filters.status)}"`);
  filters.terms = JSON.stringify(terms);
  return filters;
}

function readStatus(ctx: Ctx, { status }: ProductListQuery) {
  if (!isCatalogOnly(ctx)) return status;
  if (status === undefined || status === "published") return "published";
  throw forbidden("Customers and storefront keys can list published products only.");
}

async function readTerms(ctx: Ctx, query: ProductListQuery, filters: ProductFilters): Promise<string[]> {
  const { tag: tags, category, option, on_sale: onSale } = query;
  const terms: string[] = [];
  const term = (kind: TermKind, value: string) => `"${termToken(ctx.tenant.id, kind, value)}"`;
  if (tags !== undefined) {
    filters.tags = JSON.stringify(tags);
    terms.push(...tags.map((tag) => term("tag", tag)));
  }
  if (category !== undefined) {
    const includesDrafts = isCatalogOnly(ctx) ? 0 : 1;
    const values = { tenantId: ctx.tenant.id, name: category.normalize("NFC"), includesDrafts };
    const rows = await all(ctx.db, selectBelow, values);
    if (rows.length === 0) throw invalidField("category", unknownCategory);
    filters.categories = JSON.stringify(rows.map(({ id }) => id));
    terms.push(`(${rows.map(({ id }) => term("category", id)).join(" OR ")})`);
  }
  if (option !== undefined) {
    const pairs = Object.entries(option).map((pair) => pair.map((text) => text.normalize("NFC")));
    filters.options = JSON.stringify(pairs);
    terms.push(...pairs.map((pair) => term("option", optionKey(pair))));
  }
  if (onSale) {
    filters.onSale = 1;
    terms.push(term("sale", ""));
  }
  return terms;
}

/** Throws validationFailed if a tag has a comma and no visible product has the tag. Probably two tags are meant. */
export async function refuseJoinedTags(ctx: Ctx, { tag: tags = [] }: ProductListQuery): Promise<void> {
  const joined = tags.filter((tag) => tag.includes(","));
  if (joined.length === 0) return;
  const tokens = joined.map((tag) => `"${termToken(ctx.tenant.id, "tag", tag)}"`);
  const [place = -1] = await findPlaces(ctx, tokens, 0, 1);
  const tag = joined[place];
  if (tag !== undefined)
    throw invalidField(`tag.${tags.indexOf(tag)}`, "no product has this tag. Send several tags as tag=a&tag=b");
}

const selectBelow = statement<{ id: string }>(sql`
  with recursive below(id) as (
    select id from ${categories} where tenant_id = ${param("tenantId")} and ${param("name")} in (id, slug)
      and ${isVisible}
    union select c.id from below b join ${categories} c on c.parent_id = b.id)
  select id from below`);

function readRanges(ctx: Ctx, query: ProductListQuery): ProductFilters {
  const digits = currencyDigits(ctx.tenant.currency);
  const prices = readRange<number>(query, "price", (field, amount) => parseMoney(field, amount, digits));
  return {
    ...Object.fromEntries(prices.map(({ operator, value }) => [`price_minor ${operator}`, value])),
    ...timeFilters(query, "created_at"),
    ...timeFilters(query, "updated_at"),
  };
}

const alphabets = ["abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюя", "αβγδεζηθικλμνξοπρστυφχψω"];
/** Maximum letters of a word that is corrected, because each letter adds fifty spellings. */
const longestCorrected = 16;
/** Maximum corrected words of a search, because each takes hundreds of look-ups. */
const maxCorrected = 3;
const maxNear = 8;
/** Maximum look-ups in one turn of the event loop. All at once would delay other requests for many milliseconds. */
const lookUps = 50;

// A word is known if one of its 50 newest products is visible, so that corrections reveal nothing about drafts.
const isKnown = sql`exists (select 1 from
  (select rowid from product_search where product_search match asked.value order by rowid desc limit 50) as hit
  cross join ${products} as p on p.row_number = hit.rowid
  where p.tenant_id = ${param("tenantId")} and p.deleted_at is null and (${param("includesDrafts")} or p.status = 'published'))`;
const select = statement<{ place: number }>(sql`
  select key as place from json_each(${param("asked")}) as asked where ${isKnown} = ${param("known")} limit ${param("max")}`);

/** Returns the positions of at most `max` expressions that match (`known` 1) or do not match (0) a visible product. */
async function findPlaces(ctx: Ctx, expressions: string[], known: 0 | 1, max: number): Promise<number[]> {
  const asked = JSON.stringify(expressions);
  const values = { tenantId: ctx.tenant.id, includesDrafts: isCatalogOnly(ctx) ? 0 : 1, asked, known, max };
  return (await all(ctx.db, select, values)).map(({ place }) => place);
}

/** Returns the words of a search. For an unknown word, also searches known words that are one typing error away. */
export async function correctWords(ctx: Ctx, q: string): Promise<SearchWord[]> {
  const words = searchWords(ctx.tenant.id, q);
  const anywhere = words.map((word) => word.anywhere);
  for (const place of await findPlaces(ctx, anywhere, 0, isTickOverBudget() ? 1 : maxCorrected)) {
    const { word, ...given } = words[place] as SearchWord;
    const near = word === undefined ? [] : stemsNear(word);
    if (near.length === 0) continue;
    const tokensOf = (kind: "stem" | "title", stems: string[]) =>
      stems.map((stem) => `"${stemToken(ctx.tenant.id, kind, stem)}"`);
    const known: string[] = [];
    for (let from = 0; from < near.length && known.length < maxNear; from += lookUps) {
      await nextTurn();
      const stems = near.slice(from, from + lookUps);
      const places = await findPlaces(ctx, tokensOf("stem", stems), 1, maxNear - known.length);
      known.push(...places.map((at) => stems[at] as string));
    }
    const withNear = (one: string, kind: "stem" | "title") => `(${[one, ...tokensOf(kind, known)].join(" OR ")})`;
    words[place] = { anywhere: withNear(given.anywhere, "stem"), inTitle: withNear(given.inTitle, "title") };
  }
  return words;
}

/** Returns the stems of spellings that differ by one typing error after the first letter; none for a short word. */
function stemsNear(word: string): string[] {
  const alphabet = alphabets.find((letters) => [...word].every((letter) => letters.includes(letter)));
  if (word.length < minStem || word.length > longestCorrected || alphabet === undefined) return [];
  const near = new Set<string>();
  for (let at = 1; at <= word.length; at++) {
    const [start, end] = [word.slice(0, at), word.slice(at)];
    if (end !== "") near.add(stemOf(start + end.slice(1)));
    if (end.length > 1) near.add(stemOf(start + end[1] + end[0] + end.slice(2)));
    for (const letter of alphabet) {
      near.add(stemOf(start + letter + end));
      if (end !== "") near.add(stemOf(start + letter + end.slice(1)));
    }
  }
  return [...near];
}

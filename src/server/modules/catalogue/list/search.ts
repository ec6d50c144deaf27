import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import type { Result } from "../../../db/session.ts";
import { bind, param, rowsOf, type Statement, statement } from "../../../db/statement.ts";
import { normalizeSku } from "../products/input.ts";
import type { ProductInput } from "../products/model.ts";
import { products, productsToIndex } from "../products/table.ts";
import { blockOf, blockPrefix, indexTokens, termToken } from "./search-words.ts";

/** How many products are indexed at a time. */
const batch = 100;

/** A create can compute the words from its input, before the row is stored. */
type SearchedTexts = Pick<ProductInput, "title" | "description" | "tags" | "sku" | "translations" | "variants"> &
  Pick<ProductInput, "status" | "category_ids" | "price" | "compare_at_price">;

type Row = typeof products.$inferSelect;
type Searched = Pick<Row, "title" | "description" | "tags" | "sku" | "translations" | "variants" | "status"> &
  Pick<Row, "tenantId" | "version" | "deletedAt" | "categoryIds"> &
  Pick<ProductInput, "price" | "compare_at_price"> & { row: number };

const columns = sql.raw(
  `row_number as row, version, tenant_id as tenantId, title, description, tags, sku, translations, variants, status,
  deleted_at as deletedAt, category_ids as categoryIds, price_minor as price, compare_at_minor as compare_at_price`,
);
// In ascending order, because FTS5 writes a segment whenever a row number is lower than the one before.
const selectPending: Statement<Searched> = statement(sql`
  select ${columns} from ${productsToIndex} join ${products} using (row_number)
  order by row_number limit ${sql.raw(String(batch))}`);
// Not `insert … select`, because then FTS5 would first write the words of the previous products as a segment.
const writeWords = statement(sql`
  insert or replace into product_search (rowid, words)
  values (${param("row")}, ${param("words")} || ${sql.raw(blockOf("?1"))})`);
// The products that were read, and deleted ones.
const forgetPending = statement(sql`delete from ${productsToIndex} where row_number <= ${param("row")}`);

/** Indexes products whose texts or variants have changed, before the COMMIT. */
export const searchIndexing = {
  get read() {
    return bind(selectPending);
  },
  finish(result: Result | undefined): InStatement[] {
    const pending = rowsOf(selectPending, result);
    const last = pending.at(-1);
    if (last === undefined) return [];
    const found = pending.filter(({ deletedAt }) => deletedAt === null);
    return [...found.map(indexing), bind(forgetPending, { row: last.row })];
  },
};

function indexing(product: Searched): InStatement {
  const [tags, translations, variants, category_ids] = (
    ["tags", "translations", "variants", "categoryIds"] as const
  ).map((name) => JSON.parse(product[name]));
  const words = tokensOf(product.tenantId, { ...product, tags, translations, variants, category_ids });
  return bind(writeWords, { row: product.row, words });
}

/** The words of a product's texts, the terms of its filters, and the beginning of its block's token. */
function tokensOf(tenantId: string, product: SearchedTexts): string {
  const { title, description, tags = [], sku, translations = {}, variants = [], category_ids = [] } = product;
  const options = variants.flatMap(({ options = {} }) => Object.entries(options));
  const isOnSale = [product, ...variants].some(
    ({ price, compare_at_price: before }) => price != null && before != null && before > price,
  );
  const terms = new Set([
    termToken(tenantId, "status", product.status ?? "published"),
    ...tags.map((tag) => termToken(tenantId, "tag", tag)),
    ...category_ids.map((id) => termToken(tenantId, "category", id)),
    ...options.map((option) => termToken(tenantId, "option", optionKey(option))),
    // A product with variants shows no SKU of its own.
    ...(variants.length > 0 ? variants : [product]).flatMap(({ sku }) =>
      sku ? termToken(tenantId, "sku", skuKey(sku)) : [],
    ),
    ...(isOnSale ? [termToken(tenantId, "sale", "")] : []),
  ]);
  const translated = Object.values(translations);
  const titles = texts([title, ...translated.map((one) => one.title)]);
  const named = [title, sku, ...tags, ...variants.flatMap(({ title, sku }) => [title, sku])];
  const described = [description, ...translated.map((one) => one.description)];
  // Descriptions come last, because the number of tokens is limited.
  const words = texts([...named, ...options.map(([, value]) => value), ...titles.slice(1), ...described]);
  // The statement appends the block's number.
  return [...terms, indexTokens(tenantId, words, titles), blockPrefix(tenantId)].join(" ");
}

function texts(values: (string | null | undefined)[]): string[] {
  return values.filter((text) => typeof text === "string");
}

/** The value of a SKU's term, which ignores case. */
export const skuKey = (sku: string) => normalizeSku(sku).toLowerCase();

/** The value of an option's term. */
export function optionKey(option: readonly string[]): string {
  return JSON.stringify(option.map((text) => text.normalize("NFC")));
}

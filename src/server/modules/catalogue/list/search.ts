import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import type { Result } from "../../../db/session.ts";
import { bind, param, rowsOf, type Statement, statement } from "../../../db/statement.ts";
import { normalizeSku } from "../products/input.ts";
import type { ProductInput, VariantInput } from "../products/model.ts";
import { products, productsToIndex } from "../products/table.ts";
import { blockOf, blockPrefix, indexTokens, termToken } from "./search-words.ts";

const batch = 100;

type Row = typeof products.$inferSelect;
type JsonColumn = "tags" | "translations" | "variants" | "categoryIds";
type Searched = Pick<Row, "title" | "description" | "sku" | "status" | "tenantId" | "deletedAt" | JsonColumn> &
  Pick<ProductInput, "price" | "compare_at_price"> & { row: number };

const columns = sql.raw(
  `row_number as row, tenant_id as tenantId, title, description, tags, sku, translations, variants, status,
  deleted_at as deletedAt, category_ids as categoryIds, price_minor as price, compare_at_minor as compare_at_price`,
);
// Reads in the order of row numbers, because FTS5 writes a segment if a row number is lower than the previous one.
const selectPending: Statement<Searched> = statement(sql`
  select ${columns} from ${productsToIndex} join ${products} using (row_number)
  order by row_number limit ${sql.raw(String(batch))}`);
// Each product has its own insert, because FTS5 writes earlier products as a segment before an `insert … select`.
const writeWords = statement(sql`
  insert or replace into product_search (rowid, words)
  values (${param("row")}, ${param("words")} || ${sql.raw(blockOf("?1"))})`);
// Removes the products of this batch from the queue, including deleted ones.
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

function indexing({ row, tenantId, ...product }: Searched): InStatement {
  const { title, description, sku, status } = product;
  const tags: string[] = JSON.parse(product.tags);
  const categoryIds: string[] = JSON.parse(product.categoryIds);
  const variants: VariantInput[] = JSON.parse(product.variants);
  const translated: { title?: string; description?: string }[] = Object.values(JSON.parse(product.translations));
  const options = variants.flatMap(({ options = {} }) => Object.entries(options));
  const isOnSale = [product, ...variants].some(
    ({ price, compare_at_price: before }) => price != null && before != null && before > price,
  );
  const terms = new Set([
    termToken(tenantId, "status", status),
    ...tags.map((tag) => termToken(tenantId, "tag", tag)),
    ...categoryIds.map((id) => termToken(tenantId, "category", id)),
    ...options.map((option) => termToken(tenantId, "option", optionKey(option))),
    // A product with variants shows no SKU of its own, so only the SKUs of its variants are indexed.
    ...(variants.length > 0 ? variants : [product]).flatMap(({ sku }) =>
      sku ? termToken(tenantId, "sku", skuKey(sku)) : [],
    ),
    ...(isOnSale ? [termToken(tenantId, "sale", "")] : []),
  ]);
  const isText = (text: string | null | undefined) => typeof text === "string";
  const titles = [title, ...translated.map((one) => one.title)].filter(isText);
  const named = [title, sku, ...tags, ...variants.flatMap(({ title, sku }) => [title, sku])];
  const described = [description, ...translated.map((one) => one.description)];
  // Descriptions come last, because the number of tokens is limited.
  const texts = [...named, ...options.map(([, value]) => value), ...titles.slice(1), ...described].filter(isText);
  // The text ends with the prefix of the block token. `writeWords` appends the number of the block.
  const words = [...terms, indexTokens(tenantId, texts, titles), blockPrefix(tenantId)].join(" ");
  return bind(writeWords, { row, words });
}

/** Returns the form of a SKU that is hashed for its search token. It is the same for upper and lower case. */
export const skuKey = (sku: string) => normalizeSku(sku).toLowerCase();

export function optionKey(option: readonly string[]): string {
  return JSON.stringify(option.map((text) => text.normalize("NFC")));
}

import type { InStatement } from "@libsql/core/api";
import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, bind, bindMarked, type CompiledStatement, get, param, statement } from "../../../db/statement.ts";
import { normalizeSku } from "../input.ts";
import type { ProductInput } from "../model.ts";
import { products, staleSummaries } from "../table.ts";
import { blockOf, blockPrefix, indexTokens, termToken } from "./search-words.ts";

/** Products, and approximate characters, indexed in one transaction; other writes wait for it. */
const batch = { products: 100, characters: 100_000 };

/** The input of a create has the words of what is stored. */
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
const selectOne: CompiledStatement<Searched> = statement(sql`
  select ${columns} from ${products} where tenant_id = ${param("tenantId")} and id = ${param("id")} and deleted_at is null
    and not exists (select 1 from ${staleSummaries})`);
const selectPending: CompiledStatement<Searched> = statement(sql`
  select ${columns} from ${products} where is_indexed = 0 order by row_number limit ${param("max")}`);
const writeWords = statement(sql`
  insert or replace into product_search (rowid, words)
  select row_number, ${param("words")} || ${sql.raw(blockOf("row_number"))} from ${products} where row_number = ${param("row")} and version = ${param("version")}`);
const ofNew = (value: SQL) =>
  sql`(select ${value} from ${products} where tenant_id = ${param("tenantId")} and id = ${param("id")})`;
// Not `insert … select`, at which FTS5 would write what it holds, the words of the products before, as a segment.
const writeNewWords = statement(sql`
  insert into product_search (rowid, words)
  values (${ofNew(sql`row_number`)}, ${ofNew(sql`${param("words")} || ${sql.raw(blockOf("row_number"))}`)})`);
const markIndexed = statement(sql`
  update ${products} set is_indexed = 1
  where row_number = ${param("row")} and version = ${param("version")} and is_indexed = 0`);

/** Updates a product's index entry after a change of its texts or variants. In a batch of variants it does nothing. */
export async function indexProduct(tx: Pick<Ctx, "db" | "tenant">, productId: string): Promise<void> {
  const product = await get(tx.db, selectOne, { tenantId: tx.tenant.id, id: productId });
  if (product) await tx.db.batch(indexing(product));
}

/** The statement that indexes a new product, for the batch that inserts its row. */
export function indexInserted(tenantId: string, id: string, product: SearchedTexts): InStatement {
  return bindMarked(writeNewWords, { tenantId, id, words: tokensOf(tenantId, product) }, { isDeferred: true });
}

/** Indexes a batch of products that are not in the index. Returns how many rows were written; 0 when none is left. */
export async function indexPendingProducts(ctx: Pick<Ctx, "db">): Promise<number> {
  const pending = await all(ctx.db, selectPending, { max: batch.products });
  const statements: InStatement[] = [];
  let characters = 0;
  for (const product of pending) {
    // A product that changes before the write is skipped, because its own write indexes it.
    statements.push(...indexing(product));
    characters += (product.description?.length ?? 0) + product.translations.length + product.variants.length;
    if (characters > batch.characters) break;
  }
  if (statements.length === 0) return 0;
  const results = await ctx.db.batch(statements);
  return results.reduce((sum, result) => sum + result.rowsAffected, 0);
}

function indexing(product: Searched): InStatement[] {
  const { row, version } = product;
  const mark = bind(markIndexed, { row, version });
  if (product.deletedAt !== null) return [mark];
  const [tags, translations, variants, category_ids] = (
    ["tags", "translations", "variants", "categoryIds"] as const
  ).map((name) => JSON.parse(product[name]));
  const words = tokensOf(product.tenantId, { ...product, tags, translations, variants, category_ids });
  return [bind(writeWords, { row, version, words }), mark];
}

/** The words of a product's texts, the terms that filters look for, and the beginning of its block. */
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
    // Variants hide the SKU of their product.
    ...(variants.length > 0 ? variants : [product]).flatMap(({ sku }) =>
      sku ? termToken(tenantId, "sku", skuKey(sku)) : [],
    ),
    ...(isOnSale ? [termToken(tenantId, "sale", "")] : []),
  ]);
  const translated = Object.values(translations);
  const titles = texts([title, ...translated.map((one) => one.title)]);
  const named = [title, sku, ...tags, ...variants.flatMap(({ title, sku }) => [title, sku])];
  const described = [description, ...translated.map((one) => one.description)];
  // Descriptions last, because the number of tokens is limited.
  const words = texts([...named, ...options.map(([, value]) => value), ...titles.slice(1), ...described]);
  // The statement adds the number of the block.
  return [...terms, indexTokens(tenantId, words, titles), blockPrefix(tenantId)].join(" ");
}

function texts(values: (string | null | undefined)[]): string[] {
  return values.filter((text) => typeof text === "string");
}

/** The value of a SKU's term, the same in any case. */
export const skuKey = (sku: string) => normalizeSku(sku).toLowerCase();

/** The value of an option's term. */
export function optionKey(option: readonly string[]): string {
  return JSON.stringify(option.map((text) => text.normalize("NFC")));
}

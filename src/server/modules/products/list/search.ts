import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, bind, type CompiledStatement, get, param, statement } from "../../../db/statement.ts";
import type { ProductInput } from "../model.ts";
import { products, staleSummaries } from "../table.ts";
import { indexTokens } from "./search-words.ts";

/** Products, and approximate characters, indexed in one transaction; other writes wait for it. */
const batch = { products: 100, characters: 100_000 };

/** The input of a create has the words of what is stored. */
type SearchedTexts = Pick<ProductInput, "title" | "description" | "tags" | "sku" | "translations" | "variants">;

interface Searched
  extends Pick<typeof products.$inferSelect, "title" | "description" | "tags" | "sku" | "translations" | "variants"> {
  row_number: number;
  version: number;
  tenant_id: string;
  deleted_at: string | null;
}

const columns = sql.raw(
  "row_number, version, tenant_id, title, description, tags, sku, translations, variants, deleted_at",
);
const selectOne: CompiledStatement<Searched> = statement(sql`
  select ${columns} from ${products} where tenant_id = ${param("tenantId")} and id = ${param("id")} and deleted_at is null
    and not exists (select 1 from ${staleSummaries})`);
const selectPending: CompiledStatement<Searched> = statement(sql`
  select ${columns} from ${products} where is_indexed = 0 order by row_number limit ${param("max")}`);
const writeWords = statement(sql`
  insert or replace into product_search (rowid, words)
  select row_number, ${param("words")} from ${products} where row_number = ${param("row")} and version = ${param("version")}`);
const writeNewWords = statement(sql`
  insert into product_search (rowid, words) values (last_insert_rowid(), ${param("words")})`);
const markIndexed = statement(sql`
  update ${products} set is_indexed = 1
  where row_number = ${param("row")} and version = ${param("version")} and is_indexed = 0`);

/** Updates a product's index entry after a change of its texts or variants. In a batch of variants it does nothing. */
export async function indexProduct(tx: Pick<Ctx, "db" | "tenant">, productId: string): Promise<void> {
  const product = await get(tx.db, selectOne, { tenantId: tx.tenant.id, id: productId });
  if (product) await tx.db.batch(indexing(product));
}

/** The statement that indexes a new product, for a batch directly after the insert of its row. */
export function indexInserted(tenantId: string, product: SearchedTexts): InStatement {
  return bind(writeNewWords, { words: indexTokens(tenantId, textsOf(product)) });
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
  const { row_number: row, version, tags, translations, variants } = product;
  const mark = bind(markIndexed, { row, version });
  if (product.deleted_at !== null) return [mark];
  const parsed = { tags: JSON.parse(tags), translations: JSON.parse(translations), variants: JSON.parse(variants) };
  const words = indexTokens(product.tenant_id, textsOf({ ...product, ...parsed }));
  return [bind(writeWords, { row, version, words }), mark];
}

function textsOf({ title, description, tags = [], sku, translations = {}, variants = [] }: SearchedTexts): string[] {
  const texts: (string | null | undefined)[] = [title, sku, ...tags];
  for (const { title, sku, options = {} } of variants) texts.push(title, sku, ...Object.values(options));
  const translated = Object.values(translations);
  // Descriptions last, because the number of tokens is limited.
  texts.push(...translated.map((one) => one.title), description, ...translated.map((one) => one.description));
  return texts.filter((text) => typeof text === "string");
}

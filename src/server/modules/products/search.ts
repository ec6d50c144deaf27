import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, bind, type CompiledStatement, get, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { indexTokens } from "./search-words.ts";
import { products } from "./table.ts";

const param = sql.placeholder;
/** How many products one transaction indexes, so that writers wait for milliseconds only. */
const portion = 100;

/** What of a product is searched. */
interface Searched {
  row_number: number;
  tenant_id: string;
  title: string;
  description: string | null;
  tags: string;
  sku: string | null;
  translations: string;
  variants: string;
  deleted_at: string | null;
}

const columns = sql.raw("row_number, tenant_id, title, description, tags, sku, translations, variants, deleted_at");
const selectOne: CompiledStatement<Searched> = statement(sql`
  select ${columns} from ${products} where tenant_id = ${param("tenantId")} and id = ${param("id")} and deleted_at is null`);
const selectPending: CompiledStatement<Searched> = statement(sql`
  select ${columns} from ${products} where is_indexed = 0 order by row_number limit ${param("most")}`);
// Numbers of JavaScript arrive as REAL, which this table would not take for a row's number.
const writeWords = statement(sql`
  insert or replace into product_search (rowid, words) values (cast(${param("row")} as integer), ${param("words")})`);
const markIndexed = statement(sql`
  update ${products} set is_indexed = 1 where row_number = ${param("row")} and is_indexed = 0`);

/**
 * Writes the words under which a product is found. Call it in the transaction of every write that changes a text of it:
 * title, description, tags, SKU, translations, variants.
 */
export async function indexProduct(tx: Pick<Ctx, "db" | "tenant">, productId: string): Promise<void> {
  const product = await get(tx.db, selectOne, { tenantId: tx.tenant.id, id: productId });
  if (product) await tx.db.batch(indexing(product));
}

/**
 * Indexes some products that have no words yet, those of an earlier schema or written without; answers how many. Call it
 * until there are none.
 */
export async function indexPendingProducts(ctx: Pick<Ctx, "db">): Promise<number> {
  // Asked outside a transaction first, so that a sweep which finds nothing holds nobody up.
  if ((await all(ctx.db.primary, selectPending, { most: 1 })).length === 0) return 0;
  return inTransaction(ctx, async ({ db }) => {
    const pending = await all(db, selectPending, { most: portion });
    if (pending.length > 0) await db.batch(pending.flatMap(indexing));
    return pending.length;
  });
}

function indexing(product: Searched) {
  const mark = bind(markIndexed, { row: product.row_number });
  if (product.deleted_at !== null) return [mark];
  const words = indexTokens(product.tenant_id, textsOf(product));
  return [bind(writeWords, { row: product.row_number, words }), mark];
}

function textsOf({ title, description, tags, sku, translations, variants }: Searched): string[] {
  const texts: (string | null)[] = [title, sku, ...(JSON.parse(tags) as string[])];
  for (const variant of JSON.parse(variants) as { title: string; sku: string | null; options: object }[]) {
    texts.push(variant.title, variant.sku, ...(Object.values(variant.options) as string[]));
  }
  const translated = Object.values(JSON.parse(translations) as Record<string, Record<string, string | null>>);
  // Descriptions last: they are the longest, and the words of the rest are worth more.
  texts.push(...translated.map((one) => one.title ?? null));
  texts.push(description, ...translated.flatMap(({ title: _, ...others }) => Object.values(others)));
  return texts.filter((text) => typeof text === "string");
}

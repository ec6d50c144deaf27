import { sql } from "drizzle-orm";
import { moneyJson } from "./money.ts";

/**
 * SQL for a product as JSON text, in the order of the API. SQLite writes the text and the server passes it through:
 * building an object for each row only to print it again would cost more than the query. Column names stand bare, so
 * that the same text serves in `select` and in `returning`.
 */
export const productJson = sql`json_object(
  'id', id, 'title', title, 'slug', slug, 'description', description, 'status', status,
  'price', ${moneyJson("price_minor", "currency_digits")}, 'price_minor', price_minor, 'currency', currency,
  'sku', sku, 'stock', stock, 'images', json(images), 'tags', json(tags), 'metadata', json(metadata), 'lang', lang,
  'version', version, 'created_at', created_at, 'updated_at', updated_at, 'published_at', published_at)`;

/** One product as it is answered. */
export interface RenderedProduct {
  json: string;
  version: number;
}

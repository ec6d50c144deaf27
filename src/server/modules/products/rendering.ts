import { sql } from "drizzle-orm";
import { moneyJson } from "../../values/money.ts";

/** SQL for the stock that can be ordered; null when it is not counted. */
const availableJson = "case when stock is null then null else stock - reserved end";

/**
 * SQL for a product as JSON text, in the order of the API. The stock of a product with variants is their sum, or null
 * if one of them is not counted. Its own stock and SKU are hidden.
 */
export const productJson = sql.raw(`json_object(
  'id', id, 'title', title, 'slug', slug, 'description', description, 'status', status,
  'price', ${moneyJson("price_minor", "currency_digits")}, 'price_minor', price_minor,
  'compare_at_price', ${moneyJson("compare_at_minor", "currency_digits")}, 'currency', currency,
  'sku', case when has_variants then null else sku end, 'stock', case when has_variants then variants_stock else stock end,
  'available', case when has_variants then variants_available else ${availableJson} end,
  'allow_backorder', json(case when allow_backorder then 'true' else 'false' end),
  'images', json(images), 'tags', json(tags), 'metadata', json(metadata), 'translations', json(translations),
  'variants', json(variants), 'likes_count', likes_count, 'views_count', views_count, 'lang', lang,
  'version', version, 'created_at', created_at, 'updated_at', updated_at, 'published_at', published_at)`);

/** SQL for a variant as JSON text, in the order of the API. */
export const variantJson = sql.raw(`json_object(
  'id', id, 'title', title, 'sku', sku, 'options', json(options),
  'price', ${moneyJson("price_minor", "currency_digits")}, 'price_minor', price_minor,
  'compare_at_price', ${moneyJson("compare_at_minor", "currency_digits")}, 'currency', currency,
  'has_own_price', json(case when has_own_price then 'true' else 'false' end),
  'stock', stock, 'available', ${availableJson}, 'position', position,
  'version', version, 'created_at', created_at, 'updated_at', updated_at)`);

/** SQL for a text that changes with all that a product's document shows, except its version and its views. */
export const productState = sql.raw(
  "json_array(updated_at, reserved, likes_count, case when has_variants then variants end)",
);

export interface Rendered {
  json: string;
  version: number;
}

/** A product as JSON text; `language` is that of its title. */
export interface RenderedProduct extends Rendered {
  language: string;
  /** `productState`; of a read only. */
  state?: string;
}

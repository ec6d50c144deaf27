import { type SQL, sql } from "drizzle-orm";
import { type Ctx, isCatalogOnly } from "../../../context.ts";
import { param } from "../../../db/statement.ts";
import { moneyJson } from "../../../values/money.ts";

/** The largest stock that the public sees. Exact numbers above it would show a store's sales. */
export const maxShownStock = 10;

const ownStock = "case when stock is null then null else stock - reserved end";
const ofProduct = `case when has_variants then variants_available else ${ownStock} end`;
const shown = (available: string) => `min(max(${available}, 0), ${maxShownStock})`;

/** SQL that adds `by` to the version for a change of stock, and 1 to the public version if the shown stock changes. */
export function stockVersion(available: SQL, by: 0 | 1 = 1): SQL {
  const isShown = sql`(${sql.raw(shown("stock - reserved"))} is not min(max(${available}, 0), ${sql.raw(`${maxShownStock}`)}))`;
  const more = sql.raw(`${by}`);
  return sql`version = version + ${more}, hidden_versions = hidden_versions + ${more} - ${isShown},
    updated_at = iif(${isShown}, ${param("now")}, updated_at)`;
}

/** SQL for a product's JSON. `catalogBytes` depends on the order of the fields. `stock` is the sum of all variants. */
export const productJson = sql.raw(`json_object(
  'id', id, 'title', title, 'slug', slug, 'description', description, 'status', status,
  'price', ${moneyJson("price_minor", "currency_digits")}, 'price_minor', price_minor,
  'compare_at_price', ${moneyJson("compare_at_minor", "currency_digits")}, 'currency', currency,
  'sku', case when has_variants then null else sku end, 'images', json(images), 'tags', json(tags),
  'category_ids', json(category_ids), 'weight_g', weight_g,
  'requires_shipping', json(case when requires_shipping then 'true' else 'false' end), 'tax_class', tax_class,
  'translations', json(translations), 'likes_count', likes_count, 'views_count', views_count, 'lang', lang,
  'created_at', created_at, 'updated_at', updated_at, 'published_at', published_at,
  'allow_backorder', json(case when allow_backorder then 'true' else 'false' end), 'version', version,
  'available', ${ofProduct}, 'variants', json(variants),
  'stock', case when has_variants then variants_stock else stock end, 'metadata', json(metadata))`);

/** SQL for the number of bytes of the stored JSON before `allow_backorder`. Every caller sees this part. */
export const catalogBytes = sql.raw(`instr(cast(rendered as blob), cast(',"allow_backorder":' as blob)) - 1`);

export const variantJson = sql.raw(`json_object(
  'id', id, 'title', title, 'sku', sku, 'options', json(options),
  'price', ${moneyJson("price_minor", "currency_digits")}, 'price_minor', price_minor,
  'compare_at_price', ${moneyJson("compare_at_minor", "currency_digits")}, 'currency', currency,
  'has_own_price', json(case when has_own_price then 'true' else 'false' end),
  'stock', stock, 'available', ${ownStock}, 'weight_g', weight_g, 'images', json(images), 'position', position,
  'version', version, 'created_at', created_at, 'updated_at', updated_at)`);

/** `public`: callers for whom `isCatalogOnly` is true. `staff`: callers who see all fields. */
export type Audience = "public" | "staff";

export function audienceOf(ctx: Pick<Ctx, "actor">): Audience {
  return isCatalogOnly(ctx) ? "public" : "staff";
}

export function forEachAudience<T>(make: (audience: Audience) => T): Record<Audience, T> {
  return { staff: make("staff"), public: make("public") };
}

const shownStock = sql.raw(shown(ofProduct));

/** SQL for a product's JSON, version and `state`: a text that changes with the product, but not with its views. */
export const productViews = {
  staff: {
    json: sql<string>`rendered`,
    version: sql<number>`version`,
    state: sql<string>`json_array(updated_at, reserved, likes_count, case when has_variants then variants end)`,
  },
  public: {
    // Cutting takes a tenth of the time of `json_remove`. Each `||` copies its texts, so short texts are joined first.
    json: sql<string>`cast(substr(cast(rendered as blob), 1, catalog_bytes) as text) || (
      ',"allow_backorder":' || case when allow_backorder then 'true' else 'false' end ||
      ',"version":' || (version - hidden_versions) || ',"available":' || coalesce(${shownStock}, 'null') ||
      ',"variants":' || catalog_variants ||
      ',"metadata":' || case when metadata = '{}' or json_type(metadata, '$.public') is null then '{}'
        else json_object('public', json(metadata -> '$.public')) end || '}')`,
    version: sql<number>`version - hidden_versions`,
    state: sql<string>`json_array(updated_at, ${shownStock}, likes_count,
      case when has_variants then catalog_variants end)`,
  },
};

export const variantViews = {
  staff: { json: sql<string>`rendered`, version: sql<number>`version` },
  public: {
    json: sql<string>`json_set(json_remove(rendered, '$.stock'), '$.available', ${sql.raw(shown("stock - reserved"))},
      '$.version', version - hidden_versions)`,
    version: sql<number>`version - hidden_versions`,
  },
};

/** SQL condition: the public sees the change of the product or variant at the time `now`. */
export const isChangeShown = sql`updated_at = ${param("now")}`;

export interface Rendered {
  json: string;
  version: number;
}

export interface RenderedProduct extends Rendered {
  language: string;
  state?: string;
}

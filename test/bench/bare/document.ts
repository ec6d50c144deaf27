/** The columns from which a product's document is made. */
export const documentColumns = `id, title, slug, description, status, price_minor, compare_at_minor, currency,
  currency_digits, sku, stock, reserved, allow_backorder, images, tags, metadata, translations, variants, category_ids, likes_count,
  views_count, lang, version, created_at, updated_at, published_at, weight_g, requires_shipping, tax_class`;

/** A row with these columns. */
export type DocumentRow = Record<string, string | number | null>;

/** Builds a product's document from its row, as most programs do. */
export function toDocument(row: DocumentRow): Record<string, unknown> {
  const { currency_digits, price_minor, compare_at_minor, stock, reserved, allow_backorder, ...shown } = row;
  const scale = 10 ** Number(currency_digits);
  const read = (column: string) => JSON.parse(String(row[column]));
  return {
    ...shown,
    price_minor,
    price: Number(price_minor) / scale,
    compare_at_price: compare_at_minor === null ? null : Number(compare_at_minor) / scale,
    stock,
    available: stock === null ? null : Math.max(0, Number(stock) - Number(reserved)),
    allow_backorder: allow_backorder === 1,
    requires_shipping: row.requires_shipping === 1,
    images: read("images").map((image: object, index: number) => ({ ...image, position: index })),
    category_ids: read("category_ids"),
    tags: read("tags"),
    metadata: read("metadata"),
    translations: read("translations"),
    variants: read("variants"),
  };
}

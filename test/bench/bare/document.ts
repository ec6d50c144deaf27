/** The columns that a product's document is made of. */
export const documentColumns = `id, title, slug, description, status, price_minor, compare_at_minor, currency,
  currency_digits, sku, stock, reserved, allow_backorder, images, tags, metadata, translations, variants, category_ids, likes_count,
  views_count, lang, version, created_at, updated_at, published_at`;

/** A row of these columns. */
export interface DocumentRow {
  [column: string]: unknown;
  price_minor: number;
  compare_at_minor: number | null;
  currency_digits: number;
  stock: number | null;
  reserved: number;
  allow_backorder: number;
  images: string;
  category_ids: string;
  tags: string;
  metadata: string;
  translations: string;
  variants: string;
}

/** A product's document, built from its row as most programs do. */
export function toDocument(row: DocumentRow): Record<string, unknown> {
  const { currency_digits, compare_at_minor, reserved, ...shown } = row;
  const scale = 10 ** currency_digits;
  return {
    ...shown,
    price: row.price_minor / scale,
    compare_at_price: compare_at_minor === null ? null : compare_at_minor / scale,
    available: row.stock === null ? null : Math.max(0, row.stock - reserved),
    allow_backorder: row.allow_backorder === 1,
    images: (JSON.parse(row.images) as object[]).map((image, index) => ({ ...image, position: index })),
    category_ids: JSON.parse(row.category_ids),
    tags: JSON.parse(row.tags),
    metadata: JSON.parse(row.metadata),
    translations: JSON.parse(row.translations),
    variants: JSON.parse(row.variants),
  };
}

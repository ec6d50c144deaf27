/** The columns that a product's document is made of. */
export const documentColumns = `id, title, slug, description, status, price_minor, currency, currency_digits, sku, stock,
  images, tags, metadata, lang, version, created_at, updated_at, published_at`;

/** A row of these columns. */
export interface DocumentRow {
  [column: string]: unknown;
  price_minor: number;
  currency_digits: number;
  images: string;
  tags: string;
  metadata: string;
}

/** A product's document, built from its row the way most programs do it. */
export function toDocument(row: DocumentRow): Record<string, unknown> {
  const { currency_digits, ...shown } = row;
  return {
    ...shown,
    price: row.price_minor / 10 ** currency_digits,
    images: JSON.parse(row.images),
    tags: JSON.parse(row.tags),
    metadata: JSON.parse(row.metadata),
  };
}

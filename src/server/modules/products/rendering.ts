import { sql } from "drizzle-orm";

/** SQL for the wire form of minor units: an exact JSON number, by integer arithmetic alone. */
function moneyJson(minor: string, digits: string): string {
  const scale = `case ${digits} when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end`;
  return `case ${digits} when 0 then ${minor}
    else json(printf('%d.%0*d', ${minor} / (${scale}), ${digits}, ${minor} % (${scale}))) end`;
}

/** SQL for a product as JSON text, in the order of the API. */
export const productJson = sql.raw(`json_object(
  'id', id, 'title', title, 'slug', slug, 'description', description, 'status', status,
  'price', ${moneyJson("price_minor", "currency_digits")}, 'price_minor', price_minor, 'currency', currency,
  'sku', sku, 'stock', stock, 'images', json(images), 'tags', json(tags), 'metadata', json(metadata), 'lang', lang,
  'version', version, 'created_at', created_at, 'updated_at', updated_at, 'published_at', published_at)`);

/** One product as it is answered; it is a reply as it stands. */
export interface RenderedProduct {
  json: string;
  version: number;
}

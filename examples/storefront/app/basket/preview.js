import { shop } from "../shop.js";

export const toItems = (lines) =>
  lines.map(({ product_id, variant_id, quantity }) =>
    variant_id ? { variant_id, quantity } : { product_id, quantity },
  );

/**
 * The amounts of a dry run, with the shipping rates that apply in `offers`; or the `error` that keeps the order from
 * being placed. Of several rates, `rate` is chosen if it applies, else the first.
 */
export async function readPreview(lines, { rate, ...choices }, signal) {
  const ask = (more) =>
    shop.orders.place({ items: toItems(lines), ...choices, ...more }, { query: { dry_run: true }, signal });
  try {
    const plain = await ask();
    const offers = plain.shipping_rates ?? [];
    const chosen = offers.find(({ id }) => id === rate) ?? offers[0];
    return { ...(chosen ? await ask({ shipping_rate: chosen.id }) : plain), offers };
  } catch (error) {
    return { error, offers: [] };
  }
}

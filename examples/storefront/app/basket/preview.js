import { shop } from "../shop.js";

export const toItems = (lines) =>
  lines.map(({ product_id, variant_id, quantity }) =>
    variant_id ? { variant_id, quantity } : { product_id, quantity },
  );

/**
 * Returns the amounts of a dry run, and in `offers` the shipping rates that apply. If the order cannot be placed,
 * returns its `error`. Chooses the shipping rate `rate` if it applies, otherwise the first one.
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

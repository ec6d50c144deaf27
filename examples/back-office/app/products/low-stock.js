import { shop } from "../store.js";
import { listFields } from "./row.js";

const lowAt = 5;
/** Larger stores watch their stock elsewhere. */
const maxPages = 5;

/** Published products with few pieces left, fewest first. A product with variants counts if one of them is low. */
export async function readLowStock(signal) {
  const query = { status: "published", limit: 100, fields: listFields };
  const list = shop.products.list(query, { signal });
  const low = [];
  let cursor;
  for (let count = 0; count < maxPages && cursor !== null; count++) {
    const { data, page } = await list.page(cursor);
    low.push(...data.filter((product) => leastOf(product) <= lowAt));
    cursor = page.next_cursor;
  }
  return low.sort((a, b) => leastOf(a) - leastOf(b));
}

/** The fewest pieces of a product or one of its variants. */
function leastOf({ available, variants }) {
  const counts = variants.length > 0 ? variants.map((variant) => variant.available) : [available];
  return Math.min(...counts.map((count) => count ?? Number.POSITIVE_INFINITY));
}

import { invalidField } from "../../errors.ts";
import { type ReservedItem, reserve } from "../products/stock.ts";
import { languageChain } from "../products/translation.ts";
import type { WantedLine } from "./input.ts";
import type { OrderCtx } from "./statements.ts";

/** What was held: the item of each line, in their order, and each item once. */
export interface Reservation {
  lines: ReservedItem[];
  items: ReservedItem[];
}

interface Sum extends WantedLine {
  /** The first line that names it. */
  index: number;
}

/**
 * Holds the pieces of all lines, inside the transaction of the order. Lines of the same item are added up first, and
 * items are held in the order of their ids, so that a stock is judged once for each order.
 * @throws validationFailed and outOfStock of `reserve`, naming the first line of the item.
 */
export async function reserveLines(tx: OrderCtx, wanted: readonly WantedLine[]): Promise<Reservation> {
  const sums = new Map<string, Sum>();
  for (const [index, line] of wanted.entries()) {
    const key = keyOf(line);
    const sum = sums.get(key);
    if (sum) sum.quantity += line.quantity;
    else sums.set(key, { ...line, index });
  }
  const held = new Map<string, ReservedItem>();
  for (const [key, sum] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1))) {
    held.set(key, await reserve(tx, sum, `items.${sum.index}`));
  }
  const lines = wanted.map((line, index) => {
    const item = held.get(keyOf(line)) as ReservedItem;
    if (line.productId !== null && line.productId !== item.productId) {
      throw invalidField(`items.${index}.variant_id`, "is not of this product");
    }
    return item;
  });
  return { lines, items: [...held.values()] };
}

function keyOf({ productId, variantId }: WantedLine): string {
  return variantId ?? (productId as string);
}

/** The title of an item in the language of an order, else in the best other one. */
export function titleIn(lang: string, item: ReservedItem, tenantLanguage: string): string {
  if (item.translations === "{}") return item.title;
  const translations = JSON.parse(item.translations) as Record<string, { title?: string | null }>;
  for (const tag of JSON.parse(languageChain(lang, tenantLanguage)) as string[]) {
    if (tag === item.lang) return item.title;
    const title = translations[tag]?.title;
    if (title != null) return title;
  }
  return item.title;
}

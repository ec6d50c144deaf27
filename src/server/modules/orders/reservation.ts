import { invalidField } from "../../errors.ts";
import { type ReservedItem, reserve } from "../products/stock.ts";
import { languageChain } from "../products/translation.ts";
import type { WantedLine } from "./input.ts";
import type { OrderCtx } from "./statements.ts";

/** The reserved item of each line, in order, and each item once. */
interface Reservation {
  lines: ReservedItem[];
  items: ReservedItem[];
}

interface Sum extends WantedLine {
  /** The first line with this item. */
  index: number;
}

/** Reserves stock for all lines; those with the same item are added up first. Errors: as `reserve`. */
export async function reserveLines(tx: OrderCtx, wanted: readonly WantedLine[]): Promise<Reservation> {
  const sums = new Map<string, Sum>();
  for (const [index, line] of wanted.entries()) {
    const key = keyOf(line);
    const sum = sums.get(key);
    if (sum) sum.quantity += line.quantity;
    else sums.set(key, { ...line, index });
  }
  const reserved = new Map<string, ReservedItem>();
  for (const [key, sum] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1))) {
    reserved.set(key, await reserve(tx, sum, `items.${sum.index}`));
  }
  const lines = wanted.map((line, index) => {
    const item = reserved.get(keyOf(line)) as ReservedItem;
    if (line.productId !== null && line.productId !== item.productId) {
      throw invalidField(`items.${index}.variant_id`, "is not a variant of this product");
    }
    return item;
  });
  return { lines, items: [...reserved.values()] };
}

function keyOf({ productId, variantId }: WantedLine): string {
  return variantId ?? (productId as string);
}

/** The title of an item in the language of an order, else in the next best language. */
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

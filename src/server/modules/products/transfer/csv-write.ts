import { stringify } from "csv-stringify/sync";
import { guardFormula } from "../../../values/csv-injection.ts";
import { csvColumns } from "./csv-columns.ts";

type Fields = Record<string, unknown>;

/** The first line of an export, which names its columns. */
export const csvHeader = writeRows([csvColumns.map(({ name }) => name)]);

/**
 * A product as lines of a table: one, or one for each of its variants, of which the first tells of the product as well.
 * @param json the product as replies show it.
 */
export function writeCsvProduct(json: string): string {
  const product = JSON.parse(json) as Fields & { id: string; slug: string; variants: Fields[] };
  // The slug keeps the lines together also where the ids are taken out, for another store.
  const { id, slug } = product;
  const [first, ...others] = product.variants;
  return writeRows([rowOf(product, first), ...others.map((variant) => rowOf({ id, slug }, variant))]);
}

function rowOf(product: Fields, given: Fields = {}): string[] {
  // Prices that are the product's stay so when the file is read back: an empty cell is none of its own.
  const variant = given.has_own_price === false ? { ...given, price: null, compare_at_price: null } : given;
  return csvColumns.map(({ of, field, write }) => {
    const value = (of === "product" ? product : variant)[field];
    return value === undefined ? "" : guard(write(value));
  });
}

/** A number less than nothing is no formula, and stays a number. */
function guard(text: string): string {
  return /^-?\d+(\.\d+)?$/.test(text) ? text : guardFormula(text);
}

function writeRows(rows: string[][]): string {
  // A carriage return alone ends a line for some readers: it must not stand outside of quotes.
  return stringify(rows, { quoted_match: /\r/ });
}

import { invalidField } from "../../errors.ts";

/** The power of two below which every amount with so many decimals is a double of its own. */
function exactBelow(digits: number): number {
  return 2 ** Math.floor(53 - digits * Math.log2(10));
}

/**
 * Exact minor units of an amount on the wire: 19.99 in EUR is 1999. Works on the shortest decimal form of the number,
 * which is what the caller wrote, so nothing is ever rounded.
 * @param digits decimals of the currency.
 * @throws AppError 5102 naming the field, for more decimals than the currency has, negative and unsafe amounts.
 */
export function parseMoney(field: string, amount: number, digits: number): number {
  if (!Number.isFinite(amount) || amount < 0) throw invalidField(field, "must be a number that is not negative");
  // From here on the steps between doubles are wider than one minor unit: two amounts would become one.
  if (amount >= exactBelow(digits)) throw invalidField(field, "is too large to be exact");
  // What is so small that it is printed with an exponent has more decimals than any currency.
  const match = /^(\d+)(?:\.(\d+))?$/.exec(String(amount));
  const [, whole = "", decimals = ""] = match ?? [];
  if (!match || decimals.length > digits) {
    const most = digits === 0 ? "no decimals" : `at most ${digits} decimals`;
    throw invalidField(field, `must have ${most} in this currency`);
  }
  return Number(whole + decimals.padEnd(digits, "0"));
}

import { invalidField } from "../../errors.ts";

/**
 * Exact minor units of an amount on the wire: 19.99 in EUR is 1999. Works on the shortest decimal form of the number,
 * which is what the caller wrote, so nothing is ever rounded.
 * @param digits decimals of the currency.
 * @throws AppError 5102 naming the field, for more decimals than the currency has, negative and unsafe amounts.
 */
export function parseMoney(field: string, amount: number, digits: number): number {
  if (!Number.isFinite(amount) || amount < 0) throw invalidField(field, "must be a number that is not negative");
  const match = /^(\d+)(?:\.(\d+))?$/.exec(String(amount));
  const [, whole = "", decimals = ""] = match ?? [];
  // Very small and very large numbers have no plain decimal form; neither is an amount of money.
  if (match && decimals.length > digits) {
    const most = digits === 0 ? "no decimals" : `at most ${digits} decimals`;
    throw invalidField(field, `must have ${most} in this currency`);
  }
  const minor = match
    ? Number(whole + decimals.padEnd(digits, "0"))
    : amount < 1
      ? Number.NaN
      : Number.POSITIVE_INFINITY;
  if (Number.isNaN(minor)) throw invalidField(field, `must have at most ${digits} decimals in this currency`);
  // Past this, two different amounts could look the same to a reader of JSON numbers.
  if (!Number.isSafeInteger(minor)) throw invalidField(field, "is too large to be exact");
  return minor;
}

import { invalidField } from "../errors.ts";

/**
 * Returns the largest amount in minor units that is exact in JSON. SQLite writes at most fifteen digits of a number with
 * decimals.
 */
export function largestMinor(digits: number): number {
  return digits === 0 ? Number.MAX_SAFE_INTEGER : 10 ** 15 - 1;
}

/**
 * Converts 19.99 in EUR to 1999. Nothing is rounded, because the digits are those of the number's shortest decimal form,
 * which the caller wrote.
 * @throws validationFailed naming the field, for too many decimals, negative and unsafe amounts.
 */
export function parseMoney(field: string, amount: number, digits: number): number {
  if (!Number.isFinite(amount) || amount < 0) throw invalidField(field, "must be a number of at least 0");
  if (amount > toAmount(largestMinor(digits), digits)) throw invalidField(field, "is too large to be exact");
  // A number with an exponent, such as 1e-7, has more decimals than any currency, so it does not match.
  const match = /^(\d+)(?:\.(\d+))?$/.exec(String(amount));
  const [, whole = "", decimals = ""] = match ?? [];
  if (!match || decimals.length > digits) {
    const limit = digits === 0 ? "no decimals" : `at most ${digits} decimals`;
    throw invalidField(field, `must have ${limit} in this currency`);
  }
  return Number(whole + decimals.padEnd(digits, "0"));
}

export function ambiguousAmount(text: string, decimalComma: boolean): string | undefined {
  if (!/^-?[1-9]\d{0,2}\.\d{3}$/.test(text)) return undefined;
  const exact = text.endsWith("0") ? text.slice(0, -1) : `${text}0 in a currency with three decimals`;
  return `is ambiguous. Write ${text.replace(".", "")} or ${decimalComma ? text.replace(".", ",") : exact}`;
}

/** Converts 5.5 to 5500 thousandths. Errors: validationFailed, which names the number by `noun`: `a percentage`. */
export function parseThousandths(field: string, given: number, [min, max]: [number, number], noun: string): number {
  const thousandths = Math.round(given * 1000);
  if (given >= min && given <= max && toAmount(thousandths, 3) === given) return thousandths;
  throw invalidField(field, `must be ${noun} from ${min} to ${max} with at most three decimals`);
}

/** Converts 1999 in EUR to the number 19.99, whose shortest decimal form has exactly these digits. */
export function toAmount(minor: number, digits: number): number {
  return Number(`${minor}e-${digits}`);
}

/** Returns SQL that converts minor units to a JSON number with the currency's decimals. Null stays null. */
export function moneyJson(minor: string, digits: string): string {
  const scale = `case ${digits} when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end`;
  return `case when ${minor} is null or ${digits} = 0 then ${minor}
    else json(printf('%d.%0*d', ${minor} / (${scale}), ${digits}, ${minor} % (${scale}))) end`;
}

/** Returns SQL for the minor units in one unit of a currency. Amounts to `largestMinor` are divided by it exactly. */
export function moneyDivisor(digits: string): string {
  return `(case ${digits} when 2 then 100.0 when 0 then 1 when 3 then 1000.0 when 1 then 10.0 else 10000.0 end)`;
}

/** Returns `amount × by ÷ to`, rounded down, and its remainder. All are whole numbers of at least 0. */
export function multiplyDivide(amount: number, by: number, to: number): { part: number; remainder: number } {
  const product = amount * by;
  if (product <= Number.MAX_SAFE_INTEGER) {
    const remainder = product % to;
    return { part: (product - remainder) / to, remainder };
  }
  const exact = BigInt(amount) * BigInt(by);
  return { part: Number(exact / BigInt(to)), remainder: Number(exact % BigInt(to)) };
}

/**
 * Splits an amount by weight with the largest remainder method, so that the parts add up exactly. Of parts with equal
 * remainders, the first gets a unit first. If all weights are 0, the first part gets the whole amount.
 */
export function splitAmount(amount: number, weights: readonly number[]): number[] {
  if (amount === 0 || weights.length === 1 || weights.every((weight) => weight === 0)) {
    return weights.map((_, index) => (index === 0 ? amount : 0));
  }
  const total = weights.reduce((all, weight) => all + weight, 0);
  const shares = weights.map((weight, index) => ({ index, ...multiplyDivide(amount, weight, total) }));
  const parts = shares.map(({ part }) => part);
  const left = amount - parts.reduce((given, part) => given + part, 0);
  if (left === 0) return parts;
  const byRemainder = shares.toSorted((a, b) => b.remainder - a.remainder);
  for (const { index } of byRemainder.slice(0, left)) parts[index] = (parts[index] as number) + 1;
  return parts;
}

export function sumOf<T>(rows: readonly T[], read: (row: T) => number): number {
  return rows.reduce((sum, row) => sum + read(row), 0);
}

/** Formats 1990 in EUR as `19.90`. */
export function formatMinor(minor: number, digits: number): string {
  const text = String(minor).padStart(digits + 1, "0");
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

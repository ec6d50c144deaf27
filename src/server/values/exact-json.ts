/**
 * A number whose text a double cannot represent (`19.990000000000000001`, `1e400`). No schema accepts it, so that no
 * amount is rounded silently; in free JSON it is the nearest double.
 */
export class InexactNumber {
  readonly nearest: number;

  constructor(nearest: number) {
    this.nearest = nearest;
  }

  toJSON(): number {
    return this.nearest;
  }
}

/** Only numbers with this many digits or an exponent can lose precision. */
const suspicious = /\d[\d.]{15,}|\d[eE]/;
/** Longer numbers are inexact without a closer look: no amount or measurement has so many digits. */
const maxDigits = 400;

/** Parses JSON; numbers that a double cannot represent become `InexactNumber`. Errors: SyntaxError for invalid JSON. */
export function parseExactJson(text: string): unknown {
  if (!suspicious.test(text)) return JSON.parse(text);
  const revive = (_key: string, value: unknown, { source }: { source?: string } = {}) => {
    if (typeof value !== "number" || source === undefined) return value;
    const isExact = source.length <= maxDigits && canonical(source) === canonical(String(value));
    return isExact ? value : new InexactNumber(value);
  };
  return JSON.parse(text, revive as Parameters<typeof JSON.parse>[1]);
}

/** Digits and power of ten of a decimal number, equal for equal numbers. */
function canonical(decimal: string): string {
  const match = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(decimal);
  if (!match) return decimal;
  const [, whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  let [first, end] = [0, digits.length];
  while (digits[first] === "0") first++;
  // Not by an expression such as /0+$/, whose time is quadratic on `1000…0001`.
  while (end > first && digits[end - 1] === "0") end--;
  if (first === end) return "0";
  return `${digits.slice(first, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

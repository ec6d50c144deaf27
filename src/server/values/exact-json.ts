/**
 * A number whose text a double cannot represent (`1e400`). No schema accepts it, so that no amount is rounded silently.
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

/** Only numbers with this many digits or an exponent can lose precision. Most digits of texts begin none. */
const suspicious = /(?:^|[\s:,[-])\d(?:[\d.]{15}|[\d.]*[eE])/;
/** Longer numbers count as inexact: no amount or measurement has so many digits. */
const maxDigits = 400;
const zero = "0".charCodeAt(0);

/** Parses JSON; numbers that a double cannot represent become `InexactNumber`. Throws SyntaxError for invalid JSON. */
export function parseExactJson(text: string): unknown {
  if (!suspicious.test(text)) return JSON.parse(text);
  const revive = (_key: string, value: unknown, { source }: { source?: string } = {}) => {
    if (typeof value !== "number" || source === undefined) return value;
    const nearest = String(value);
    if (nearest === source) return value;
    const isExact = source.length <= maxDigits && canonical(source) === canonical(nearest);
    return isExact ? value : new InexactNumber(value);
  };
  return JSON.parse(text, revive as Parameters<typeof JSON.parse>[1]);
}

/** Returns digits and power of ten without the sign, so that equal numbers have equal texts. */
function canonical(decimal: string): string {
  const at = Math.max(decimal.indexOf("e"), decimal.indexOf("E"));
  const mantissa = at === -1 ? decimal : decimal.slice(0, at);
  const exponent = at === -1 ? 0 : Number(decimal.slice(at + 1));
  const point = mantissa.indexOf(".");
  const decimals = point === -1 ? 0 : mantissa.length - point - 1;
  const digits = point === -1 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);
  // Not by expressions such as /0+$/, whose time is quadratic on `1000…0001`.
  let first = digits.startsWith("-") ? 1 : 0;
  let end = digits.length;
  while (digits.charCodeAt(first) === zero) first++;
  while (end > first && digits.charCodeAt(end - 1) === zero) end--;
  if (first === end) return "0";
  return `${digits.slice(first, end)}e${exponent - decimals + digits.length - end}`;
}

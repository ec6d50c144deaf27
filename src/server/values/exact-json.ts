/**
 * A number whose text says more than a double can hold (`19.990000000000000001`, `1e400`). No schema takes it for a
 * number, so that no amount is ever rounded in silence; in free JSON it stands for what any reader would make of it.
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

/** Only with so many digits, or with an exponent, can a number lose anything. */
const suspicious = /\d[\d.]{15,}|\d[eE]/;

/**
 * Parses JSON without losing digits unnoticed: numbers that a double cannot hold come back as `InexactNumber`.
 * @throws SyntaxError for a text that is not JSON.
 */
export function parseExactJson(text: string): unknown {
  if (!suspicious.test(text)) return JSON.parse(text);
  const revive = (_key: string, value: unknown, context?: { source?: string }) => {
    if (typeof value !== "number" || context?.source === undefined) return value;
    return canonical(context.source) === canonical(String(value)) ? value : new InexactNumber(value);
  };
  return JSON.parse(text, revive as Parameters<typeof JSON.parse>[1]);
}

/** Digits and power of ten of a decimal number, the same for every way to write it. */
function canonical(decimal: string): string {
  const match = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(decimal);
  if (!match) return decimal;
  const [, whole = "", fraction = "", exponent = "0"] = match;
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

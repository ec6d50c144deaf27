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

/** Parses JSON; numbers that a double cannot represent become `InexactNumber`. Errors: SyntaxError for invalid JSON. */
export function parseExactJson(text: string): unknown {
  if (!suspicious.test(text)) return JSON.parse(text);
  const revive = (_key: string, value: unknown, context?: { source?: string }) => {
    if (typeof value !== "number" || context?.source === undefined) return value;
    return canonical(context.source) === canonical(String(value)) ? value : new InexactNumber(value);
  };
  return JSON.parse(text, revive as Parameters<typeof JSON.parse>[1]);
}

/** Digits and power of ten of a decimal number, equal for equal numbers. */
function canonical(decimal: string): string {
  const match = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(decimal);
  if (!match) return decimal;
  const [, whole = "", fraction = "", exponent = "0"] = match;
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** A number that a double may round, such as `1e400`. No schema accepts it, so that no amount is rounded silently. */
export class InexactNumber {
  readonly nearest: number;

  constructor(nearest: number) {
    this.nearest = nearest;
  }

  toJSON(): number {
    return this.nearest;
  }
}

/** Finds numbers that may lose precision: those with sixteen digits or an exponent. Digits in strings rarely match. */
const suspicious = /(?:^|[\s:,[-])\d(?:[\d.]{15}|[\d.]*[eE])/;
/** A double can represent any number with this many digits. */
const exactDigits = 15;

/** Parses JSON; numbers that a double may round become `InexactNumber`. Throws SyntaxError for invalid JSON. */
export function parseExactJson(text: string): unknown {
  if (!suspicious.test(text)) return JSON.parse(text);
  const revive = (_key: string, value: unknown, { source }: { source?: string } = {}) => {
    if (typeof value !== "number" || source === undefined || String(value) === source) return value;
    const [mantissa = ""] = source.toLowerCase().split("e");
    const digits = mantissa.replace(/\D/g, "");
    const isExact = digits.length <= exactDigits && Number.isFinite(value) && (value !== 0 || !/[1-9]/.test(digits));
    return isExact ? value : new InexactNumber(value);
  };
  return JSON.parse(text, revive as Parameters<typeof JSON.parse>[1]);
}

import { formatMinor } from "../../server/values/money.ts";

/** An amount with all decimals of its currency: `12.50 EUR`. */
export function formatMoney(minor: number, { digits, currency }: { digits: number; currency: string }): string {
  return `${formatMinor(minor, digits)} ${currency}`;
}

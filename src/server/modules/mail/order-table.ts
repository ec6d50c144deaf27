import { formatMinor } from "../../values/money.ts";
import type { MailTemplates } from "./texts.ts";

/** The order in a mail, as it was when the mail was queued. Amounts are in minor units of `currency`. */
export interface MailOrder {
  currency: string;
  digits: number;
  /** Values of the mail that are amounts, by name. */
  amounts: Record<string, number>;
  lines: { quantity: number; title: string; price?: number; total?: number }[];
  /** `rate` is a tax rate in percent; `detail` the name of a shipping rate, or a discount code. */
  sums: { label: keyof MailTemplates["labels"]; amount: number; rate?: number; detail?: string | null }[];
  taxNote?: string | null | undefined;
}

/** A row of a mail's table. `detail` is shown below the text, in smaller type; `isSum` marks sums of the order. */
export interface TableRow {
  text: string;
  detail: string;
  amount: string;
  isSum: boolean;
  isStrong: boolean;
}

/** Formats an amount of an order in a language: `36,39 €`. Digits are Latin, as in the rest of a mail. */
export function formatAmount(minor: number, { currency, digits }: MailOrder, language: string): string {
  const places = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const form = new Intl.NumberFormat(language, {
    ...{ style: "currency", currency, currencyDisplay: "narrowSymbol", numberingSystem: "latn" },
    ...places,
  });
  // The amount is formatted from a text, because a number would lose digits of large amounts.
  const sign = minor < 0 ? "-" : "";
  return form.format(`${sign}${formatMinor(Math.abs(minor), digits)}` as Intl.StringNumericLiteral);
}

/** Returns the lines and sums of an order in the words of a language. */
export function tableRows(order: MailOrder, { labels }: MailTemplates, language: string): TableRow[] {
  const show = (minor: number) => formatAmount(minor, order, language);
  const percent = new Intl.NumberFormat(language, {
    ...{ style: "percent", maximumFractionDigits: 3, numberingSystem: "latn" },
  });
  const lines = order.lines.map(({ quantity, title, price, total }) => ({
    ...{ text: `${quantity} × ${title}`, isSum: false, isStrong: false },
    detail: price === undefined || quantity === 1 ? "" : labels.each.replace("{price}", () => show(price)),
    amount: total === undefined ? "" : show(total),
  }));
  const sums = order.sums.map(({ label, amount, rate, detail }) => ({
    text: `${labels[label].replace("{rate}", () => percent.format((rate ?? 0) / 100))}${detail ? ` · ${detail}` : ""}`,
    ...{ detail: "", amount: show(amount), isSum: true, isStrong: ["total", "due", "refunded"].includes(label) },
  }));
  const note = { text: order.taxNote ?? "", detail: "", amount: "", isSum: true, isStrong: false };
  return [...lines, ...sums, ...(order.taxNote ? [note] : [])];
}

import { collectTexts } from "./collect-texts.ts" with { type: "macro" };

/** What a customer is told of, about their order. */
export const toldEvents = [
  "order.paid",
  "order.fulfilled",
  "order.cancelled",
  "order.expired",
  "order.refunded",
] as const;

export type ToldEvent = (typeof toldEvents)[number];

/** The texts of one language; `{number}` is the order's. */
export type OrderTexts = Record<ToldEvent, string>;

/** All texts, by BCP 47 tag; each file of `texts/` is one. */
export const orderTexts = collectTexts() as Record<string, OrderTexts>;

const lastResort = "en";

/** Whether the customer is told of it. */
export function isToldEvent(type: string): type is ToldEvent {
  return (toldEvents as readonly string[]).includes(type);
}

/**
 * What is said of an order, in the first of these languages that there are texts for, each followed by what it is a
 * variety of (`pt-BR` by `pt`), and in English where there is none.
 * @param wanted BCP 47 tags, the most wanted first.
 */
export function orderText(type: ToldEvent, number: number, wanted: readonly (string | null)[]): string {
  const language = wanted.flatMap((tag) => varietiesOf(tag ?? "")).find((tag) => Object.hasOwn(orderTexts, tag));
  return (orderTexts[language ?? lastResort] as OrderTexts)[type].replace("{number}", String(number));
}

/** `zh-Hant-TW`, `zh-Hant`, `zh`; files are named in lower case or as BCP 47 writes tags. */
function varietiesOf(tag: string): string[] {
  const parts = tag.split("-");
  parts[0] = (parts[0] as string).toLowerCase();
  return parts.map((_, index) => parts.slice(0, parts.length - index).join("-"));
}

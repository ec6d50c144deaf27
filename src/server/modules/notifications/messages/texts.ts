import { chooseLanguage } from "../../../values/choose-language.ts";
import { collectJson } from "../../../values/collect-json.ts" with { type: "macro" };

/** The events of an order that its customer is notified about. */
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
export const orderTexts = collectJson("modules/notifications/messages/texts") as Record<string, OrderTexts>;

/** Whether customers are notified about an event. */
export function isToldEvent(type: string): type is ToldEvent {
  return (toldEvents as readonly string[]).includes(type);
}

/** The text about an order, in the first of these languages that has one, else in English. @param wanted BCP 47 tags. */
export function orderText(type: ToldEvent, number: number, wanted: readonly (string | null)[]): string {
  const texts = orderTexts[chooseLanguage(wanted, orderTexts)] as OrderTexts;
  return texts[type].replace("{number}", String(number));
}

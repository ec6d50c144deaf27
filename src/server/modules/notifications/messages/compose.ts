import { chooseLanguage } from "../../../values/choose-language.ts";
import type { PushPayload } from "../providers/provider.ts";
import type { PushTask } from "../sending/queue.ts";
import type { MessageContent } from "./messages.ts";
import ar from "./texts/ar.json";
import de from "./texts/de.json";
import en from "./texts/en.json";
import es from "./texts/es.json";
import fr from "./texts/fr.json";
import pt from "./texts/pt.json";
import zh from "./texts/zh.json";

/** The types of events about which customers are notified. */
export type NotifiableEvent = keyof typeof en;
export const notifiableEvents = Object.keys(en) as NotifiableEvent[];

export const orderTexts: Record<string, typeof en> = { ar, de, en, es, fr, pt, zh };

/** Returns the text about an order in the first of the wanted languages (BCP 47) that has one, or in English. */
export function orderText(type: NotifiableEvent, number: number, wanted: readonly (string | null)[]): string {
  const texts = orderTexts[chooseLanguage(wanted, orderTexts)] ?? en;
  return texts[type].replace("{number}", String(number));
}

export function composePayload(
  task: Pick<PushTask, "kind" | "content" | "messageId" | "lang" | "store" | "language">,
): PushPayload {
  if (task.kind === "order") {
    const data: { type: NotifiableEvent; order_id: string; number: number } = JSON.parse(task.content);
    const body = orderText(data.type, data.number, [task.lang, task.language]);
    return { title: task.store, body, tag: data.order_id, data: { ...data } };
  }
  const { title, body, url, data } = JSON.parse(task.content) as MessageContent;
  // A device shows only one message with the same tag, so a message that is sent twice appears once.
  return { title, body, url, tag: task.messageId, data };
}

import type { PushPayload } from "../providers/provider.ts";
import type { PushTask } from "../sending/queue.ts";
import type { MessageContent } from "./outbox.ts";
import { orderText, type ToldEvent } from "./texts.ts";

/** A notification shows one line of its title. */
const maxTitle = 100;

/** The stored content of a notification about an order. */
interface OrderContent {
  type: ToldEvent;
  order_id: string;
  number: number;
  status: string;
}

/** The payload for a device, in its language, else in the store's. */
export function composePayload(
  task: Pick<PushTask, "kind" | "content" | "message_id" | "lang" | "store" | "language">,
): PushPayload {
  if (task.kind === "order") {
    const data = JSON.parse(task.content) as OrderContent;
    const body = orderText(data.type, data.number, [task.lang, task.language]);
    return { title: clip(task.store), body, tag: data.order_id, data: { ...data } };
  }
  const { title, body, url, data } = JSON.parse(task.content) as MessageContent;
  // A device shows messages with the same tag once.
  return { title, body, url, tag: task.message_id, data };
}

function clip(title: string): string {
  const characters = [...title];
  return characters.length > maxTitle ? `${characters.slice(0, maxTitle - 1).join("")}…` : title;
}

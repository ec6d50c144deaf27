import type {
  AcceptedMessage,
  MessageWithDeliveries,
} from "../../../server/modules/notifications/messages/message-model.ts";
import { type Console, printRecord, warn } from "../../terminal/console.ts";

type Message = AcceptedMessage | MessageWithDeliveries;

export function toMessageRecord<M extends Message>({ id, ...rest }: M) {
  return { message_id: id, ...rest };
}

export async function printMessage(console: Console, message: Message): Promise<void> {
  const record = toMessageRecord(message);
  if (console.quiet && record.message_id === null) return;
  if (console.json) return printRecord(console, record);
  // `is_complete` is about creating deliveries, which may still wait to be sent.
  const labelOf = (name: string) => (name === "is_complete" ? "all_deliveries_queued" : name);
  const shown = Object.entries(record).map(([name, value]) => [labelOf(name), showPart(name, value)]);
  return printRecord(console, Object.fromEntries(shown));
}

export function formatRecipients({ topic, user_id: userId, lang }: Omit<MessageWithDeliveries, "id">): string {
  const whom = topic !== null ? `topic ${topic}` : userId !== null ? userId : "everyone";
  return lang === null ? whom : `${whom}, ${lang}`;
}

export function formatCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  return parts.length === 0 ? "none" : parts.map(([name, count]) => `${count} ${name}`).join(", ");
}

export async function warnOfUndeliverable(console: Console, { undeliverable, recipients }: AcceptedMessage) {
  if (console.json) return;
  for (const { platform, message } of undeliverable) {
    const count = recipients[platform];
    await warn(
      console,
      `This command's settings do not reach ${count} ${platform} devices. ${message} for the server.`,
    );
  }
}

function showPart(name: string, value: unknown): unknown {
  if (name === "recipients" || name === "deliveries") return formatCounts(value as Record<string, number>);
  if (name === "undeliverable") return (value as AcceptedMessage["undeliverable"]).map(({ platform }) => platform);
  return value;
}

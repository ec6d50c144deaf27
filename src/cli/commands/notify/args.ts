import type { AcceptedMessage } from "../../../server/modules/notifications/messages/message.ts";
import type { MessageWithDeliveries } from "../../../server/modules/notifications/messages/message-model.ts";
import { type FlagArg, namespaceArg } from "../../framework/args.ts";
import type { Console } from "../../terminal/console.ts";
import { formatValue, printRecord, warn } from "../../terminal/output.ts";

/** The store whose devices are told something. */
export const notifyNamespaceArg = { ...namespaceArg, required: true } as const satisfies FlagArg;

type Message = AcceptedMessage | MessageWithDeliveries;

/** A message as the terminal prints it: the API's record, with the id named as everywhere in the terminal. */
export function toMessageRecord<M extends Message>({ id, ...rest }: M) {
  return { message_id: id, ...rest };
}

/** Prints one message; people read counts as words. One that was only tried has no id. */
export async function printMessage(console: Console, message: Message): Promise<void> {
  const record = toMessageRecord(message);
  if (console.quiet && record.message_id === null) return;
  if (console.json) return printRecord(console, record, "message_id");
  const shown = Object.entries(record).map(([name, value]) => [name, showPart(name, value)]);
  return printRecord(console, Object.fromEntries(shown), "message_id");
}

/** Whom a message is for. */
export function formatRecipients({ topic, user_id: userId, lang }: MessageWithDeliveries): string {
  const whom = topic !== null ? `topic ${topic}` : userId !== null ? userId : "everyone";
  return lang === null ? whom : `${whom}, ${lang}`;
}

/** What became of a message, without what is none: `12 sent, 1 waiting`. */
export function formatCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  return parts.length === 0 ? "none" : parts.map(([name, count]) => `${count} ${name}`).join(", ");
}

/** Says which devices a message does not reach. The server may have settings that this command has not. */
export async function warnOfUndeliverable(
  console: Console,
  { undeliverable, recipients }: AcceptedMessage,
): Promise<void> {
  if (console.json) return;
  for (const { platform, message } of undeliverable) {
    await warn(
      console,
      `${recipients[platform]} of ${platform}: ${message}, as far as this command's environment says`,
    );
  }
}

function showPart(name: string, value: unknown): unknown {
  if (name === "recipients" || name === "deliveries") return formatCounts(value as Record<string, number>);
  if (name === "undeliverable") return (value as AcceptedMessage["undeliverable"]).map(({ platform }) => platform);
  if (name === "data" && Object.keys(value as object).length === 0) return formatValue(null);
  return value;
}

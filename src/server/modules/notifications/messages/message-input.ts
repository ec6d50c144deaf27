import { invalidField } from "../../../errors.ts";
import { checkNote, requireText } from "../../../values/text.ts";
import { type MessageInput, messageBounds } from "./message-model.ts";
import type { MessageContent } from "./outbox.ts";

/** Every push service accepts this much, with what encryption adds. */
const maxBytes = 3000;
const dataName = /^[A-Za-z]\w{0,63}$/;
/** Names that Firebase reserves. */
const reservedName = /^(from|message_type|collapse_key|google.*|gcm.*)$/i;

/**
 * The content of a message: texts without control characters, small enough for every push service.
 * @throws validationFailed naming the field.
 */
export function messageContent({ title, body, url, data }: Pick<MessageInput, "title" | "body" | "url" | "data">) {
  requireText("title", title, messageBounds.title);
  checkNote("body", body, messageBounds.body);
  if (url !== undefined) requireLink(url);
  if (data !== undefined) requireData(data);
  const content: MessageContent = { title, body, ...(url !== undefined && { url }), ...(data && { data }) };
  if (Buffer.byteLength(JSON.stringify(content)) > maxBytes) {
    throw invalidField("body", `title, body, url and data must be at most ${maxBytes} bytes together`);
  }
  return content;
}

function requireLink(url: string): void {
  requireText("url", url, messageBounds.url);
  const isPath = /^\/(?![/\\])/.test(url);
  const parsed = !isPath && URL.canParse(url) ? new URL(url) : undefined;
  const isSecure = parsed?.protocol === "https:" && parsed.username === "" && parsed.password === "";
  if (!isPath && !isSecure) throw invalidField("url", "must be an https address or a path that begins with /");
}

function requireData(data: Record<string, string>): void {
  for (const [name, value] of Object.entries(data)) {
    if (!dataName.test(name)) throw invalidField("data", "has names that are not letters, digits and underscores");
    if (reservedName.test(name)) throw invalidField(`data.${name}`, "is a name that push services reserve");
    if (value.includes("\0") || !value.isWellFormed()) {
      throw invalidField(`data.${name}`, "must not contain NUL or invalid Unicode");
    }
  }
}

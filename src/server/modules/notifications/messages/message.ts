import { defaultPushOptions, type PushPlatform } from "../../../config/push-config.ts";
import type { Ctx } from "../../../context.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { forbidden, invalidField } from "../../../errors.ts";
import { checkNote, requireText } from "../../../values/text.ts";
import { toTimestamp } from "../../../values/timestamp.ts";
import { recordAudit } from "../../audit/service.ts";
import { requireSubject } from "../../users/guards.ts";
import { noProvider } from "../providers/providers.ts";
import { topicExpects, topicForm } from "../registrations/registration-model.ts";
import { type AcceptedMessage, type MessageInput, messageBounds } from "./message-model.ts";
import { type MessageContent, queueMessage } from "./outbox.ts";
import { countRecipients, type Recipients } from "./recipients.ts";

/** Every push service accepts this size, with the overhead of encryption. */
const maxBytes = 3000;
const dataName = /^[A-Za-z]\w{0,63}$/;
/** Names that Firebase reserves. */
const reservedName = /^(from|message_type|collapse_key|google.*|gcm.*)$/i;

/** The fields of the API, the `user_id` that an app key sent, and the language of the devices. */
export type MessageRequest = MessageInput & { subject?: string | undefined; lang?: string | undefined };

export type PreparedMessage = Awaited<ReturnType<typeof prepareMessage>>;

/**
 * Checks a message and counts its devices. It runs before the transaction, because counting takes time in a large store.
 * @throws validationFailed naming the field, notFound for an unknown user.
 */
export async function prepareMessage(ctx: Ctx, request: MessageRequest) {
  const content = checkContent(request);
  const { ttl = messageBounds.ttl } = request;
  if (!(Number.isInteger(ttl) && ttl >= messageBounds.leastTtl && ttl <= messageBounds.maxTtl)) {
    throw invalidField("ttl", `must be from ${messageBounds.leastTtl} to ${messageBounds.maxTtl} seconds`);
  }
  const recipients = await readRecipients(ctx, request);
  return { content, recipients, counts: await countRecipients(ctx, recipients), ttlMs: ttl * 1000 };
}

/**
 * Puts a message into the outbox. The running server sends it to each device, and retries until the message expires. A
 * message to more than one user gets an audit record, without its text.
 */
export async function sendMessage(ctx: Ctx, prepared: PreparedMessage): Promise<AcceptedMessage> {
  const { content, recipients, counts, ttlMs } = prepared;
  const at = ctx.now();
  // The reply and the row have the same times.
  return inTransaction({ ...ctx, now: () => at }, async (tx) => {
    const id = await queueMessage(tx, { content, ...recipients, expiresAt: at + ttlMs });
    if (recipients.userId === null) {
      const { topic, lang } = recipients;
      const details = {
        ...(topic === null ? { everyone: true } : { topic }),
        ...(lang && { lang }),
        recipients: counts,
      };
      await recordAudit(tx, { event: "notification.sent", subject: id, details });
    }
    return describeMessage(tx, prepared, id);
  });
}

/** The reply to a message; `id` is null for a dry run. */
export function describeMessage(ctx: Ctx, prepared: PreparedMessage, id: string | null = null): AcceptedMessage {
  const { content, recipients, counts, ttlMs } = prepared;
  const { platforms } = ctx.push ?? defaultPushOptions;
  const missing = (Object.keys(counts) as PushPlatform[]).filter(
    (platform) => counts[platform] > 0 && !platforms.includes(platform),
  );
  return {
    id,
    title: content.title,
    body: content.body,
    url: content.url ?? null,
    data: content.data ?? {},
    topic: recipients.topic,
    user_id: recipients.userId,
    lang: recipients.lang,
    created_at: toTimestamp(ctx.now()),
    expires_at: toTimestamp(ctx.now() + ttlMs),
    recipients: counts,
    undeliverable: missing.map((platform) => ({ platform, message: noProvider[platform] })),
  };
}

async function readRecipients(ctx: Ctx, request: MessageRequest): Promise<Recipients> {
  const { topic, customer_id: customerId, subject, everyone, lang = null } = request;
  if (ctx.actor.kind === "user" && ctx.actor.role === "customer") throw forbidden();
  const isToUser = customerId !== undefined || subject !== undefined;
  if ([topic !== undefined, isToUser, everyone === true].filter(Boolean).length !== 1) {
    throw invalidField("topic", "is required, unless customer_id or everyone is sent. Send exactly one of the three");
  }
  if (topic !== undefined && !new RegExp(topicForm).test(topic)) throw invalidField("topic", `must be ${topicExpects}`);
  const userId = isToUser ? await requireSubject(ctx, customerId, subject) : null;
  return { topic: topic ?? null, userId, lang };
}

/** The content of a message: texts without control characters, small enough for every push service. */
function checkContent({ title, body, url, data }: MessageContent): MessageContent {
  requireText("title", title, messageBounds.title);
  checkNote("body", body, messageBounds.body);
  if (url !== undefined) requireLink(url);
  if (data !== undefined) requireData(data);
  const content: MessageContent = { title, body, ...(url !== undefined && { url }), ...(data && { data }) };
  if (Buffer.byteLength(JSON.stringify(content)) > maxBytes) {
    throw invalidField("body", `is too long: title, body, url and data may have at most ${maxBytes} bytes together`);
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
    if (!dataName.test(name)) throw invalidField("data", "must have names of letters, digits and underscores");
    if (reservedName.test(name)) throw invalidField(`data.${name}`, "is a name that push services reserve");
    if (value.includes("\0") || !value.isWellFormed()) {
      throw invalidField(`data.${name}`, "must not contain NUL or invalid Unicode");
    }
  }
}

import { and, desc, eq, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { keysetList } from "../../../db/keyset-list.ts";
import { all, byId, get, matches, ofStore, param, params, run, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { invalidField, notFound } from "../../../errors.ts";
import type { ListPage } from "../../../pagination/list-page.ts";
import type { ListQuery } from "../../../pagination/list-query.ts";
import { checkNote, requireSafeText, requireText, requireWhole } from "../../../values/fields.ts";
import { isId, newId, toTimestamp } from "../../../values/stamps.ts";
import { recordAudit } from "../../audit/service.ts";
import { requireSubject } from "../../users/guards.ts";
import { isSent, notSent } from "../providers/provider.ts";
import { topicExpects, topicForm } from "../registrations/registration-model.ts";
import { type PushPlatform, pushDeliveries, pushMessages, pushRegistrations } from "../table.ts";
import { Message, type MessageInput, type MessageWithDeliveries, messageBounds } from "./message-model.ts";
import { countRecipients, type Recipients } from "./recipients.ts";

export type MessageContent = Pick<MessageInput, "title" | "body" | "url" | "data">;

const insertMessage = statement((q) =>
  q.insert(pushMessages).values({
    ...params("id", "tenantId", "content", "topic", "userId", "lang", "expiresAt"),
    kind: "message",
    position: "",
    createdAt: param("now"),
  }),
);

/** Queues a message and returns its id. `expiresAt` is in epoch milliseconds. */
export async function queueMessage(
  tx: Pick<Ctx, "db" | "tenant" | "now">,
  message: Recipients & { content: MessageContent; expiresAt: number },
): Promise<string> {
  const id = newId("msg");
  await run(tx.db, insertMessage, {
    ...message,
    id,
    tenantId: tx.tenant.id,
    content: JSON.stringify(message.content),
    now: toTimestamp(tx.now()),
    expiresAt: toTimestamp(message.expiresAt),
  });
  return id;
}

/**
 * Compiles a statement that queues a notification to one user about a change, in the batch that writes the change. If
 * the user has no devices, nothing is queued. Parameters: `messageId`, `now`, `expiresAt` and those of `notice`.
 * @param notice a `select` of at most one row: `tenant_id`, `user_id` and `content`, a JSON text.
 */
export function compileNotice(notice: SQL) {
  return statement(sql`
    insert into ${pushMessages}
      (id, tenant_id, kind, content, topic, user_id, lang, position, created_at, expires_at)
    select ${param("messageId")}, n.tenant_id, 'order', n.content, null, n.user_id, null, '', ${param("now")},
      ${param("expiresAt")}
    from (${notice}) n where exists(select 1 from ${pushRegistrations} r where r.user_id = n.user_id)`);
}

/** Maximum bytes of a message. Every push service accepts this size, including the overhead of encryption. */
const maxBytes = 3000;
const dataName = /^[A-Za-z]\w{0,63}$/;
const reservedName = /^(from|message_type|collapse_key|google.*|gcm.*)$/i;

type MessageRequest = MessageInput & { subject?: string | undefined; lang?: string | undefined };

type PreparedMessage = Awaited<ReturnType<typeof prepareMessage>>;

/** Checks a message and counts its recipients' devices, before the transaction. Errors: validationFailed, notFound. */
export async function prepareMessage(ctx: Ctx, request: MessageRequest) {
  const content = checkContent(request);
  const { ttl = messageBounds.ttl } = request;
  requireWhole("ttl", ttl, messageBounds.minTtl, messageBounds.maxTtl);
  const recipients = await readRecipients(ctx, request);
  return { content, recipients, counts: await countRecipients(ctx, recipients), ttlMs: ttl * 1000 };
}

/** Queues a message. The audit log records it without its text, unless it is for a single user. */
export async function sendMessage(ctx: Ctx, prepared: PreparedMessage) {
  const { content, recipients, counts, ttlMs } = prepared;
  const at = ctx.now();
  // The reply and the stored row must have the same times, so the clock is read once.
  return inTransaction({ ...ctx, now: () => at }, async (tx) => {
    const id = await queueMessage(tx, { content, ...recipients, expiresAt: at + ttlMs });
    if (recipients.userId === null) {
      const { topic, lang } = recipients;
      const to = topic === null ? { everyone: true } : { topic };
      const details = { ...to, ...(lang && { lang }), recipients: counts };
      await recordAudit(tx, { event: "notification.sent", subject: id, details });
    }
    return describeMessage(tx, prepared, id);
  });
}

export function describeMessage(ctx: Ctx, prepared: PreparedMessage, id: string | null = null) {
  const { topic, userId: user_id, lang } = prepared.recipients;
  const { title, body, url = null, data = {} } = prepared.content;
  const { counts, ttlMs } = prepared;
  const missing = (Object.keys(counts) as PushPlatform[]).filter((one) => counts[one] > 0 && !isSent(one));
  return {
    ...{ id, title, body, url, data, topic, user_id, lang },
    created_at: toTimestamp(ctx.now()),
    expires_at: toTimestamp(ctx.now() + ttlMs),
    recipients: counts,
    undeliverable: missing.map((platform) => ({ platform, message: notSent })),
  };
}

async function readRecipients(ctx: Ctx, request: MessageRequest): Promise<Recipients> {
  const { topic, customer_id: customerId, subject, everyone, lang = null } = request;
  const isToUser = customerId !== undefined || subject !== undefined;
  if ([topic !== undefined, isToUser, everyone === true].filter(Boolean).length !== 1) {
    throw invalidField("topic", "is required, unless customer_id or everyone is sent. Send exactly one of the three");
  }
  if (topic !== undefined && !new RegExp(topicForm).test(topic)) throw invalidField("topic", `must be ${topicExpects}`);
  const userId = isToUser ? await requireSubject(ctx, customerId, subject) : null;
  return { topic: topic ?? null, userId, lang };
}

function checkContent({ title, body, url, data }: MessageContent): MessageContent {
  requireText("title", title, messageBounds.title);
  checkNote("body", body, messageBounds.body);
  if (url !== undefined) requireLink(url);
  for (const [name, value] of Object.entries(data ?? {})) {
    if (!dataName.test(name)) throw invalidField("data", "must have names of letters, digits and underscores");
    if (reservedName.test(name)) throw invalidField(`data.${name}`, "is a name that push services reserve");
    requireSafeText(`data.${name}`, value);
  }
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

const messageParts = sql`'id', id, 'title', content ->> '$.title', 'body', content ->> '$.body', 'url', content ->> '$.url',
  'data', json(coalesce(content -> '$.data', '{}')), 'topic', topic, 'user_id', user_id, 'lang', lang,
  'created_at', created_at, 'expires_at', expires_at`;
const countOf = (status: string) => sql`count(*) filter (where status = ${sql.raw(`'${status}'`)})`;
const deliveries = sql`(select json_object('waiting', ${countOf("waiting")}, 'sent', ${countOf("sent")},
  'failed', ${countOf("failed")}, 'dropped', ${countOf("dropped")}, 'expired', ${countOf("expired")})
  from ${pushDeliveries} where message_id = ${pushMessages.id})`;
const withDeliveries = sql<string>`json_object(${messageParts}, 'is_complete', json(iif(position is null, 'true', 'false')),
  'deliveries', ${deliveries})`;
// Notifications about orders are not listed as messages.
const isMessage = eq(pushMessages.kind, "message");
const isAsked = and(byId(pushMessages), isMessage);
const selectMessage = statement((q) => q.select({ json: withDeliveries }).from(pushMessages).where(isAsked));
const matchesFilter = sql`${ofStore(pushMessages)} and ${isMessage} and ${matches(pushMessages.topic, "topic")}
  and ${matches(pushMessages.userId, "userId")}
  and (${param("since")} is null or ${pushMessages.createdAt} >= ${param("since")})`;
const selectRecords = statement((q) => {
  const records = q.select({ json: withDeliveries }).from(pushMessages).where(matchesFilter);
  return records.orderBy(desc(pushMessages.id)).limit(sql.placeholder("limit"));
});
const maxRecords = 1000;

const readPage = keysetList({
  name: "notifications",
  fields: Object.keys(Message.properties),
  json: sql`json_object(${messageParts})`,
  from: sql`from ${pushMessages}`,
  base: sql`tenant_id = ${param("tenantId")} and kind = 'message'`,
  sorts: { id: sql`id` },
  tie: null,
});

/** Returns a message and the states of its deliveries, as JSON text. Both are kept for 30 days. Errors: notFound. */
export async function getMessage(ctx: Ctx, id: string): Promise<{ json: string }> {
  const row = isId("msg", id) ? await get(ctx.db, selectMessage, { tenantId: ctx.tenant.id, id }) : undefined;
  if (!row) throw notFound("message", id);
  return row;
}

/** Returns a page of the messages of the store, newest first, without notifications about orders. */
export function listMessages(ctx: Ctx, query: ListQuery): Promise<ListPage> {
  return readPage(ctx, query, { filters: {} });
}

/** Returns the newest messages that match, for the terminal. Errors: validationFailed unless `limit` is from 1 to 1000. */
export async function listMessageRecords(
  ctx: Ctx,
  limit: number,
  filter: { topic?: string | undefined; userId?: string | undefined; since?: string | undefined } = {},
): Promise<MessageWithDeliveries[]> {
  const { topic = null, userId = null, since = null } = filter;
  requireWhole("limit", limit, 1, maxRecords);
  const rows = await all(ctx.db, selectRecords, { tenantId: ctx.tenant.id, topic, userId, since, limit });
  return rows.map(({ json }) => JSON.parse(json) as MessageWithDeliveries);
}

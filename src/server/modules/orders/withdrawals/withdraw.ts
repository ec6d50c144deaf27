import { and, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { keysetList } from "../../../db/keyset-list.ts";
import { pick } from "../../../db/selection.ts";
import { all, equals, get, ofStore, param, params, run, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { emailKey, parseEmail } from "../../../values/email.ts";
import { checkNote, requireText } from "../../../values/fields.ts";
import { newId, toTimestamp } from "../../../values/stamps.ts";
import { queueMail } from "../../mail/outbox.ts";
import { mailStore } from "../../mail/store-mail.ts";
import { addressSubject, consumeLimit, countHit } from "../../rate-limits/service.ts";
import { needAttention } from "../attention/attention.ts";
import type { AccessInput, WithdrawalInput } from "../change-model.ts";
import { commitTransition } from "../commit-transition.ts";
import { accessToken } from "../guests/access-token.ts";
import { Withdrawal, type WithdrawalListQuery } from "../model.ts";
import { orderLines, orders } from "../table.ts";
import { withdrawalFields, withdrawals } from "./table.ts";

const selectNamed = statement((q) =>
  q
    .select(pick(orders, "id", "email", "lang", "accessVersion"))
    .from(orders)
    .where(and(ofStore(orders), equals(orders.number, "number"), equals(orders.emailKey, "emailKey"))),
);
const insertWithdrawal = statement((q) =>
  q.insert(withdrawals).values({
    ...params("id", "tenantId", "orderId", "number", "email", "emailKey", "name", "lines", "text"),
    createdAt: param("now"),
  }),
);

const left = sql`(l.quantity - l.refunded_quantity)`;
// Selects quantity and title of the pieces to send back: those of the withdrawal, or all that were not refunded.
const selectItems = statement(sql`
  select min(${left}, coalesce(w.value ->> 'quantity', ${left})) || ' × ' || l.title
    || coalesce(' (' || l.variant_title || ')', '') as item
  from ${orderLines} l left join json_each(${param("lines")}) w on w.value ->> 'line_id' = l.id
  where l.tenant_id = ${param("tenantId")} and l.order_id = ${param("id")}
    and ${left} > 0 and (${param("lines")} is null or w.value is not null) order by l.position`);

const readPage = keysetList({
  name: "withdrawals",
  fields: Object.keys(Withdrawal.properties),
  json: sql.raw(`json_object(${withdrawalFields})`),
  bytes: sql`coalesce(octet_length(text), 0) + coalesce(octet_length(lines), 0)`,
  from: sql`from ${withdrawals}`,
  conditions: { matched: sql`(order_id is not null) = ${param("matched")}` },
  sorts: { created_at: sql`created_at` },
});

/** Limits mails about an order to three of each kind in 20 minutes. */
const mails = { name: "order mails", max: 3, windowMs: 20 * 60_000 };
/** Limits receipts to addresses without a matching order, so that strangers cannot use the store to send mail. */
const unknownMails = { name: "unknown withdrawals", max: 60, windowMs: 60 * 60_000 };
/** Limits mails to the store about withdrawals without a matching order. The store's list has all such withdrawals. */
const unknownAlerts = { name: "unknown withdrawal alerts", max: 5, windowMs: 60 * 60_000 };
/** Limits requests for links and withdrawals from an IP address. */
const calls = { name: "order links", max: 10, windowMs: 20 * 60_000 };

const addressOf = (ctx: Ctx) => addressSubject(ctx.vault, ctx.client?.ip, ctx.tenant.id);

/**
 * Counts a mail, and returns whether it may be sent. Replies that depended on the result would reveal orders.
 * Each order and kind of mail has a limit of its own, so that requests for links cannot block receipts.
 */
async function mayMail(ctx: Ctx, kind: "link" | "receipt", key: string): Promise<boolean> {
  return (await countHit(ctx, mails, ctx.vault.mac("limit", `${ctx.tenant.id}:${kind}:${key}`))) === 0;
}

/** Mails a new link to the order with this number and email, if there is one. */
export async function mailOrderLink(ctx: Ctx, { number, email }: AccessInput): Promise<void> {
  const key = emailKey(email);
  if (key === null || (await countHit(ctx, calls, addressOf(ctx))) > 0) return;
  const order = await get(ctx.db, selectNamed, { tenantId: ctx.tenant.id, number, emailKey: key });
  if (order?.email == null || ctx.tenant.orderUrl === null || !(await mayMail(ctx, "link", order.id))) return;
  const { id, email: to, lang, accessVersion } = order;
  // The token is in the URL's fragment, because browsers do not send fragments to servers.
  const link = `${ctx.tenant.orderUrl}#${id}.${accessToken(ctx, id, accessVersion)}`;
  await queueMail(ctx, {
    kind: "order_link",
    thread: id,
    to: { email: to, lang },
    values: { number: String(number), link },
  });
}

/** Returns the time in the store's time zone: `2026-11-27 03:20 (Europe/Berlin)`. */
function localTime({ tenant: { timezone }, now }: Ctx): string {
  // Swedish formats times as ISO 8601 does.
  const form = new Intl.DateTimeFormat("sv", { timeZone: timezone, dateStyle: "short", timeStyle: "short" });
  return `${form.format(now())} (${timezone})`;
}

/**
 * Records that a consumer withdraws from a contract, mails a receipt with time and content, and asks staff to look at
 * the order. If number and email match no order, the reply is the same, and the store gets a mail.
 * @throws validationFailed, tooManyRequests; then nothing was recorded.
 */
export async function recordWithdrawal(
  ctx: Ctx,
  input: WithdrawalInput & { lang?: string | undefined },
): Promise<void> {
  const { number } = input;
  const contact = parseEmail("email", input.email);
  const name = requireText("name", input.name, 200);
  const text = checkNote("text", input.text ?? null, 2000);
  await consumeLimit(ctx, calls, addressOf(ctx), "Too many withdrawals from this address.");
  await inTransaction(ctx, async (tx) => {
    const now = toTimestamp(tx.now());
    const found = await get(tx.db, selectNamed, { tenantId: tx.tenant.id, number, emailKey: contact.emailKey });
    const lines = input.lines ? JSON.stringify(input.lines) : null;
    const id = newId("wdr");
    const row = { ...contact, id, tenantId: tx.tenant.id, orderId: found?.id ?? null, number, name, lines, text, now };
    await run(tx.db, insertWithdrawal, row);
    if (found) {
      await needAttention(tx, found.id, "withdrawal");
      await commitTransition(tx, found.id, { event: "order.updated" });
    } else await alertStore(tx, id, number);
    if (!(await mayMail(tx, "receipt", found?.id ?? contact.emailKey))) return;
    if (!found && (await countHit(tx, unknownMails, tx.tenant.id)) > 0) return;
    // Text that a stranger wrote is not mailed to an address that nobody has verified.
    const items = found ? await all(tx.db, selectItems, { tenantId: tx.tenant.id, id: found.id, lines }) : [];
    const values = { number: String(number), time: localTime(tx), items: items.map(({ item }) => item).join(", ") };
    await queueMail(tx, {
      kind: "withdrawal_received",
      thread: found?.id,
      to: { email: contact.email, lang: found?.lang ?? input.lang },
      values,
    });
  });
}

async function alertStore(tx: Ctx, cause: string, number: number): Promise<void> {
  if ((await countHit(tx, unknownAlerts, tx.tenant.id)) > 0) return;
  const values = { number: String(number), reason: "unknown_withdrawal" };
  await mailStore(tx, { kind: "needs_attention", cause, values });
}

/** Lists withdrawals, including those without an order. Errors: malformedRequest, validationFailed. */
export function listWithdrawals(ctx: Ctx, { matched, ...query }: WithdrawalListQuery) {
  return readPage(ctx, query, { filters: { matched: matched === undefined ? undefined : Number(matched) } });
}

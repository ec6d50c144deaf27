import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { formatMinor } from "../../values/money.ts";
import { queueMail } from "../mail/outbox.ts";
import { countHit } from "../rate-limits/service.ts";
import { tenants } from "../tenants/table.ts";
import { accessToken } from "./guests/access-token.ts";
import { requireRow } from "./read.ts";
import { orderLines } from "./table.ts";
import { transferReference } from "./transfer-reference.ts";

/** Mails to an address that nobody has verified. */
const placedMails = { name: "order placed mails", max: 3, windowMs: 60 * 60_000 };

const selectParts = statement<{ items: string; instructions: string | null }>(sql`
  select group_concat(item, char(10)) as items,
    (select transfer_instructions from ${tenants} where id = ${param("tenantId")}) as instructions
  from (
    select quantity || ' × ' || title || coalesce(' (' || variant_title || ')', '') as item
    from ${orderLines} where tenant_id = ${param("tenantId")} and order_id = ${param("id")} order by position)`);

/**
 * Queues a mail about an order to its buyer, in the transaction of its cause; each kind once for each order. An order
 * without an email gets none. Mails contain no text of the buyer.
 */
export async function mailOrder(tx: Ctx, id: string, kind: "order_placed" | "order_paid"): Promise<void> {
  const { tenant, vault } = tx;
  const { email, emailKey, lang, number, totalMinor, ...order } = await requireRow(tx, id);
  if (email === null) return;
  const isPlaced = kind === "order_placed";
  if (isPlaced && (await countHit(tx, placedMails, vault.mac("limit", `${tenant.id}:placed:${emailKey}`))) > 0) return;
  const parts = await get(tx.db, selectParts, { tenantId: tenant.id, id });
  const isTransfer = isPlaced && order.paymentMethod === "manual" && totalMinor > 0;
  const instructions = isTransfer ? (parts?.instructions ?? "") : "";
  const values = {
    number: String(number),
    items: parts?.items ?? "",
    total: `${formatMinor(totalMinor, order.currencyDigits)} ${order.currency}`,
    instructions,
    reference: instructions && transferReference(number),
    // The token is in the fragment, because browsers do not send fragments to servers.
    link: tenant.orderUrl === null ? "" : `${tenant.orderUrl}#${id}.${accessToken(tx, id, order.accessVersion)}`,
  };
  await queueMail(tx, { kind, cause: id, to: { email, lang }, values });
}

import type { Ctx } from "../../../context.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { storeNotFound, wrongState } from "../../../errors.ts";
import { recordAudit } from "../../audit/service.ts";
import { findRecipient } from "../../mail/compose.ts";
import type { OrderMailKind } from "../../mail/kinds.ts";
import { queueMail } from "../../mail/outbox.ts";
import { renderMail } from "../../mail/render.ts";
import { type OrderRow, requireRow } from "../read.ts";
import { describeOrder } from "./mails.ts";

/** Renders a mail about an order, or about its newest parcel or refund, as it would be sent now. Errors: wrongState. */
export async function previewOrderMail(ctx: Ctx, id: string, kind: OrderMailKind, language?: string) {
  const order = await requireRow(ctx, id);
  const { values, order: table } = await describeOrder(ctx, order, kind);
  const found = await findRecipient(ctx.db, ctx.tenant.id, kind, { email: order.email ?? "" });
  if (!found) throw storeNotFound();
  const mail = { kind, store: found.store, name: null, languages: [language, order.lang], values, order: table };
  return { kind, to: order.email, ...renderMail(mail) };
}

/** Queues a mail about an order again. Errors: wrongState without an email, or if the order has another state. */
export function resendOrderMail(ctx: Ctx, id: string, kind: OrderMailKind): Promise<{ mail_id: string; to: string }> {
  return inTransaction(ctx, async (tx) => {
    const order = await requireRow(tx, id);
    const { email: to, lang, number } = order;
    if (to === null) throw wrongState(`Order ${number} has no email.`);
    if (!hasHappened(order, kind)) throw wrongState(`Order ${number} is not ${kind.slice(6)}.`);
    const mail = await describeOrder(tx, order, kind);
    const mailId = await queueMail(tx, { ...mail, kind, to: { email: to, lang } });
    await recordAudit(tx, { event: "mail.resent", namespace: tx.tenant.namespace, subject: id, details: { kind } });
    return { mail_id: mailId, to };
  });
}

function hasHappened({ status, paidAt }: OrderRow, kind: OrderMailKind): boolean {
  if (kind === "order_paid") return paidAt !== null;
  return kind === "order_cancelled" || kind === "order_expired" ? kind === `order_${status}` : true;
}

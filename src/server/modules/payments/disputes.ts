import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, param, params, run, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { bindEvent } from "../events/service.ts";
import { endAttention, needAttention } from "../orders/attention/attention.ts";
import { bumpOrder } from "../orders/statements.ts";
import type { ProviderDispute } from "./provider.ts";
import { addFound, failRefund, listRefunds, type PaymentRow } from "./refunds.ts";
import { disputes } from "./table.ts";

// An older state changes nothing.
const upsert = statement((q) =>
  q
    .insert(disputes)
    .values({
      ...params("tenantId", "id", "orderId", "paymentId", "amountMinor", "currency", "status", "progress", "reason"),
      ...{ dueAt: param("dueAt"), createdAt: param("now") },
    })
    .onConflictDoUpdate({
      target: [disputes.tenantId, disputes.id],
      set: params("status", "progress", "dueAt"),
      setWhere: sql`${disputes.progress} < ${param("progress")}`,
    }),
);

/** Records disputes of a payment. They change neither the order's status nor stock; a lost one returns the money. */
export async function applyDisputes(tx: Ctx, payment: PaymentRow, found: readonly ProviderDispute[]): Promise<void> {
  const { orderId, id: paymentId } = payment;
  for (const dispute of found) {
    const values = { ...dispute, tenantId: tx.tenant.id, orderId, paymentId, now: toTimestamp(tx.now()) };
    if ((await run(tx.db, upsert, values)) === 0) continue;
    const { id, amountMinor, currency, status, reason, dueAt } = dispute;
    const data = { dispute: id, amount_minor: amountMinor, currency, status, reason, due_at: dueAt };
    const event = { type: "order.disputed", subject: orderId, data } as const;
    await tx.db.batch([bind(bumpOrder, { ...values, id: orderId }), bindEvent(tx, event)]);
    if (dispute.isClosed && !dispute.isLost) await endAttention(tx, orderId, ["dispute"]);
    else await needAttention(tx, orderId, "dispute");
    const returned = (await listRefunds(tx, payment)).find(({ providerId }) => providerId === id);
    if (dispute.isLost && !returned) {
      await addFound(tx, payment, { id, amountMinor, state: "succeeded" }, `Dispute ${id} was lost.`);
    } else if (!dispute.isLost && returned && returned.state !== "failed") {
      await failRefund(tx, returned, null);
    }
  }
}

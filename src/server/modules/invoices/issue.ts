import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { all, get, ofStore, param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { wrongState } from "../../errors.ts";
import { toAmount } from "../../values/money.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { readSale } from "../orders/credits.ts";
import { getOrder, ofOrder, requireRow } from "../orders/read.ts";
import { orderStateError } from "../orders/statements.ts";
import { disputes } from "../payments/table.ts";
import { selectSettings } from "../tenants/table.ts";
import { renderInvoice, type Seller } from "./render.ts";
import { invoices } from "./table.ts";

const selectLast = statement((q) =>
  q.select({ number: sql<number>`coalesce(max(number), 0)` }).from(invoices).where(ofStore(invoices)),
);
const insert = statement((q) =>
  q.insert(invoices).values({
    ...params("tenantId", "number", "kind", "refundId", "totalMinor", "currency", "html"),
    ...{ id: param("invoiceId"), orderId: param("id"), issuedAt: param("now") },
  }),
);
const selectSeller = selectSettings("url", "language", "timezone", "taxNote", "invoiceFrom");
const selectDisputes = statement((q) => q.select(pick(disputes, "id")).from(disputes).where(ofOrder));

/**
 * Issues the missing documents of a paid order, and returns all: the invoice, and a credit note for each refund that
 * reduced the order's price. A lost dispute has no credit note, because the order's price stays the same.
 * @throws notFound; wrongState for an order that was never paid, and for a store without `invoice_from`.
 */
export async function issueInvoices(ctx: Ctx, id: string) {
  await getOrder(ctx, id);
  return inTransaction(ctx, async (tx) => {
    const order = await requireRow(tx, id);
    if (order.paidAt === null) throw orderStateError(id, order.status, "paid orders have an invoice");
    await issueMissing(tx, await readSale(tx, order));
    const { issued } = await readSale(tx, order);
    return issued.map(({ number, kind, totalMinor, currency, html, issuedAt }) => ({
      ...{ number, kind, order_id: id, currency, total: toAmount(totalMinor, order.currencyDigits) },
      ...{ total_minor: totalMinor, html, issued_at: issuedAt },
    }));
  });
}

/** Issues missing documents. No number is skipped or used twice, because write transactions run one after another. */
async function issueMissing(tx: Ctx, { order, lines, issued, credits, ...sale }: Awaited<ReturnType<typeof readSale>>) {
  const values = { tenantId: tx.tenant.id, id: order.id, currency: order.currency, now: toTimestamp(tx.now()) };
  const lost = new Set((await all(tx.db, selectDisputes, values)).map((dispute) => dispute.id));
  const pieces = lines.map((line) => ({
    line,
    quantity: line.quantity,
    amount: line.subtotalMinor - line.discountMinor,
  }));
  const whole = { ...sale, id: null, amount: order.totalMinor, pieces, shipping: order.shippingMinor };
  const notes = credits.filter(({ providerId }) => !lost.has(providerId ?? ""));
  const missing = [whole, ...notes].filter((one) => !issued.some(({ refundId }) => refundId === one.id));
  if (missing.length === 0) return;
  const seller = await get(tx.db, selectSeller, values);
  if (!seller?.invoiceFrom) {
    const { namespace } = tx.tenant;
    throw wrongState(`Store "${namespace}" writes no invoices, because it has no address for them.`, {
      remedy: `Set it: bodega tenant update ${namespace} --invoice-from "<name, address, tax number>"`,
    });
  }
  let { number = 0 } = (await get(tx.db, selectLast, values)) ?? {};
  const [{ number: first, issuedAt } = { number: number + 1, issuedAt: values.now }] = issued;
  for (const { id: refundId, amount, ...content } of missing) {
    number += 1;
    const corrects = refundId === null ? null : { number: first, issuedAt };
    const paper = { payments: [], ...content, amount, number, order, issuedAt: values.now, corrects };
    const html = renderInvoice(paper, seller as Seller);
    const kind = refundId === null ? "invoice" : "credit_note";
    await run(tx.db, insert, { ...values, invoiceId: newId("inv"), number, kind, refundId, totalMinor: amount, html });
  }
}

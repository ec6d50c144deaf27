import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { all, get, ofStore, param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { wrongState } from "../../errors.ts";
import { toAmount } from "../../values/money.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { creditsOf, taxPartsOf } from "../orders/credits.ts";
import { getOrder, type OrderRow, ofOrder, requireRow, selectLines } from "../orders/read.ts";
import { orderStateError } from "../orders/statements.ts";
import { orderRefunds, payments } from "../orders/table.ts";
import { disputes } from "../payments/table.ts";
import { tenants } from "../tenants/table.ts";
import { type Paper, renderInvoice, type Seller } from "./render.ts";
import { invoices } from "./table.ts";

const selectIssued = statement((q) => q.select().from(invoices).where(ofOrder).orderBy(invoices.number));
const selectLast = statement((q) =>
  q.select({ number: sql<number>`coalesce(max(number), 0)` }).from(invoices).where(ofStore(invoices)),
);
const insert = statement((q) =>
  q.insert(invoices).values({
    ...params("tenantId", "number", "kind", "refundId", "totalMinor", "currency", "html"),
    ...{ id: param("invoiceId"), orderId: param("id"), issuedAt: param("now") },
  }),
);
const selectSeller = statement((q) =>
  q
    .select(pick(tenants, "title", "url", "language", "timezone", "taxNote", "invoiceFrom"))
    .from(tenants)
    .where(sql`id = ${param("tenantId")}`),
);
const selectRefunds = statement((q) => q.select().from(orderRefunds).where(ofOrder).orderBy(orderRefunds.id));
const selectPayments = statement((q) => q.select().from(payments).where(ofOrder).orderBy(payments.id));
const selectDisputes = statement((q) => q.select(pick(disputes, "id")).from(disputes).where(ofOrder));

type Issued = NonNullable<(typeof selectIssued)["row"]>;
type New = Pick<Issued, "kind" | "refundId" | "totalMinor"> & Omit<Paper, "number" | "order" | "currency" | "issuedAt">;

/**
 * Returns the invoice of a paid order, and a credit note for each refund that reduced its price. Those that are missing
 * are issued. A lost dispute has no credit note, because the price stays.
 * @throws notFound; wrongState for an order that was never paid, and for a store without `invoice_from`.
 */
export async function issueInvoices(ctx: Ctx, id: string) {
  await getOrder(ctx, id);
  return inTransaction(ctx, async (tx) => {
    const order = await requireRow(tx, id);
    if (order.paidAt === null) throw orderStateError(id, order.status, "paid orders have an invoice");
    const values = { tenantId: tx.tenant.id, id };
    const issued = await all(tx.db, selectIssued, values);
    const missing = (await listDocuments(tx, order)).filter(
      ({ refundId }) => !issued.some((one) => one.refundId === refundId),
    );
    if (missing.length > 0) await issue(tx, order, missing, issued[0]);
    const { currencyDigits: digits } = order;
    return (await all(tx.db, selectIssued, values)).map(({ number, kind, totalMinor, currency, html, issuedAt }) => ({
      ...{ number, kind, order_id: id, currency, total: toAmount(totalMinor, digits), total_minor: totalMinor },
      ...{ html, issued_at: issuedAt },
    }));
  });
}

/** The documents that an order should have: its invoice comes first. */
async function listDocuments(tx: Ctx, order: OrderRow): Promise<New[]> {
  const values = { tenantId: tx.tenant.id, id: order.id };
  const lines = await all(tx.db, selectLines, values);
  const lost = new Set((await all(tx.db, selectDisputes, values)).map((dispute) => dispute.id));
  const credits = creditsOf(order, lines, await all(tx.db, selectRefunds, values));
  const invoice: New = {
    ...{ kind: "invoice", refundId: null, totalMinor: order.totalMinor, shipping: order.shippingMinor },
    ...{ taxParts: taxPartsOf(order), payments: await all(tx.db, selectPayments, values) },
    lines: lines.map((line) => ({ line, quantity: line.quantity, amount: line.subtotalMinor - line.discountMinor })),
  };
  const notes = credits
    .filter(({ providerId }) => !lost.has(providerId ?? ""))
    .map(({ id: refundId, amount: totalMinor, pieces, shipping, taxParts }): New => {
      const refunded = pieces.flatMap(({ line_id, quantity, amount_minor: amount }) => {
        const line = lines.find(({ id }) => id === line_id);
        return line ? [{ line, quantity, amount }] : [];
      });
      return { kind: "credit_note", refundId, totalMinor, lines: refunded, shipping, taxParts, payments: [] };
    });
  return [invoice, ...notes];
}

/** Assigns the next numbers. Transactions that write run one after another, so that no number is missing or given twice. */
async function issue(tx: Ctx, order: OrderRow, missing: readonly New[], invoice: Issued | undefined): Promise<void> {
  const { id: tenantId, namespace } = tx.tenant;
  const seller = await get(tx.db, selectSeller, { tenantId });
  if (!seller?.invoiceFrom) {
    throw wrongState(`Store "${namespace}" writes no invoices, because it has no address for them.`, {
      remedy: `Set it: bodega tenant update ${namespace} --invoice-from "<name, address, tax number>"`,
    });
  }
  const now = toTimestamp(tx.now());
  let { number = 0 } = (await get(tx.db, selectLast, { tenantId })) ?? {};
  let correct = invoice && { number: invoice.number, issuedAt: invoice.issuedAt };
  for (const { kind, refundId, totalMinor, ...content } of missing) {
    number += 1;
    correct ??= { number, issuedAt: now };
    const paper: Paper = { ...content, kind, totalMinor, number, order, issuedAt: now, invoice: correct };
    const html = renderInvoice(paper, seller as Seller);
    const row = { tenantId, id: order.id, invoiceId: newId("inv"), number, kind, refundId, totalMinor, html, now };
    await run(tx.db, insert, { ...row, currency: order.currency });
  }
}

import { and } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { byId, equals, get, ofStore, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { needAttention } from "../orders/attention/attention.ts";
import { checkouts } from "../orders/checkouts/table.ts";
import { insertPayment, refreshPaymentStatus, settle } from "../orders/payments.ts";
import { requireRow } from "../orders/read.ts";
import { payments } from "../orders/table.ts";
import { requireProvider } from "./accounts.ts";
import { applyDisputes } from "./disputes.ts";
import { type CheckoutRow, findCheckout, openPage } from "./pages.ts";
import type { Snapshot } from "./provider.ts";
import { addFound, advanceRefunds, type PaymentRow } from "./refunds.ts";

/** When the server next reads a page of its own accord. */
const nextCheckMs = { open: 600_000, processing: 3_600_000 };

const setState = statement((q) =>
  q
    .update(checkouts)
    .set(params("state", "isProcessing", "intentId", "nextCheckAt"))
    .where(byId(checkouts)),
);
const isBooked = and(equals(payments.provider, "provider"), equals(payments.reference, "reference"));
const selectPayment = statement((q) =>
  q
    .select()
    .from(payments)
    .where(and(ofStore(payments), isBooked)),
);

/**
 * Reads a page at the provider, and adds the facts that are missing here. It may run at any time, in any order and any
 * number of times: facts are only added, and states only advance. Errors: unavailable, wrongState.
 */
export async function reconcile(ctx: Ctx, row: CheckoutRow): Promise<void> {
  const provider = await requireProvider(ctx);
  const { id, sessionId } = await openPage(ctx, provider, row);
  if (sessionId === null) return;
  const snapshot = await provider.read(sessionId);
  const server: Ctx = { ...ctx, actor: { kind: "server" } };
  await inTransaction(server, (tx) => applySnapshot(tx, id, snapshot));
}

async function applySnapshot(tx: Ctx, id: string, snapshot: Snapshot): Promise<void> {
  const row = await findCheckout(tx, id);
  // The store was deleted.
  if (!row) return;
  const hasChanged = await advance(tx, row, snapshot);
  const { payment, intentId } = snapshot;
  if (payment === null || intentId === null) {
    if (hasChanged) await refreshPaymentStatus(tx, row.orderId, "order.updated");
    return;
  }
  const known = await bookPayment(tx, row, intentId, payment);
  // What comes in another currency, and goes back, is no part of the order's sums.
  if (known.currency !== row.currency) return;
  // What has failed or was won comes first, because the same money may have left in another way since.
  const missing = await advanceRefunds(tx, known, snapshot.refunds);
  await applyDisputes(tx, known, snapshot.disputes);
  for (const refund of missing) await addFound(tx, known, refund);
}

const ranks = { open: 0, processing: 1, expired: 2, failed: 2, complete: 3 };

function stateOf({ state, isProcessing, payment }: Snapshot): keyof typeof ranks {
  if (state !== "complete") return state;
  if (isProcessing) return "processing";
  return payment === null ? "failed" : "complete";
}

/** Records the state of a page, unless a newer one is known. Returns whether it has changed. */
async function advance(tx: Ctx, row: CheckoutRow, snapshot: Snapshot): Promise<boolean> {
  const found = stateOf(snapshot);
  const before = row.isProcessing ? "processing" : row.state;
  const isNewer = ranks[found] > ranks[before];
  const next = isNewer ? found : before;
  const isProcessing = next === "processing";
  const nextCheckAt = isProcessing || next === "open" ? await nextCheck(tx, row.orderId, next) : null;
  await run(tx.db, setState, {
    ...{ tenantId: tx.tenant.id, id: row.id, intentId: snapshot.intentId ?? row.intentId, nextCheckAt },
    ...{ state: isProcessing ? "complete" : next, isProcessing: isProcessing ? 1 : 0 },
  });
  return isNewer;
}

/** An open page is read at the latest when its order ends, so that it is closed first. */
async function nextCheck(tx: Ctx, orderId: string, state: keyof typeof nextCheckMs): Promise<string> {
  const { expiresAt } = await requireRow(tx, orderId);
  const next = toTimestamp(tx.now() + nextCheckMs[state]);
  return state === "open" && expiresAt > toTimestamp(tx.now()) && expiresAt < next ? expiresAt : next;
}

/** Books a payment once. It pays the order only if amount and currency are those of the page. */
async function bookPayment(
  tx: Ctx,
  { orderId, provider, amountMinor, currency }: CheckoutRow,
  reference: string,
  paid: NonNullable<Snapshot["payment"]>,
): Promise<PaymentRow> {
  const values = { tenantId: tx.tenant.id, id: orderId, provider, reference, ...paid };
  const row = { ...values, paymentId: newId("pay"), recordedBy: null, now: toTimestamp(tx.now()) };
  if ((await run(tx.db, insertPayment, row)) > 0) {
    const isExpected = paid.amountMinor === amountMinor && paid.currency === currency;
    if (!isExpected) await needAttention(tx, orderId, "amount_mismatch");
    await settle(tx, orderId, isExpected);
  }
  return (await get(tx.db, selectPayment, values)) as PaymentRow;
}

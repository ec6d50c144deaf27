import { and, isNotNull, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, byId, equals, get, ofStore, param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { needAttention } from "../orders/attention/attention.ts";
import { checkouts } from "../orders/checkouts/table.ts";
import { isCustomer, isPage } from "../orders/input.ts";
import { insertPayment, refreshPaymentStatus, settle } from "../orders/payments.ts";
import { getOrder, requireRow } from "../orders/read.ts";
import { payments } from "../orders/table.ts";
import { requireProvider } from "./accounts.ts";
import { type CheckoutRow, expireOpen, findCheckout, findOpen, openPage } from "./pages.ts";
import { isRefusal, type Snapshot } from "./provider.ts";
import { addFound, advanceRefunds, applyDisputes, type PaymentRow } from "./refunds.ts";

/** When the server next reads a page of its own accord. */
const nextCheckMs = { open: 600_000, processing: 3_600_000 };

const states = params("state", "isProcessing", "intentId", "nextCheckAt");
const setState = statement((q) => q.update(checkouts).set(states).where(byId(checkouts)));
const isReference = and(equals(payments.provider, "provider"), equals(payments.reference, "reference"));
const isBooked = and(ofStore(payments), isReference);
const selectPayment = statement((q) => q.select().from(payments).where(isBooked));
/** How often visitors can have a page read. */
const everyMs = 5000;

const isWanted = sql`(${param("isAll")} or state = 'open' or is_processing)`;
const ofOrder = and(ofStore(checkouts), equals(checkouts.orderId, "orderId"), isNotNull(checkouts.sessionId), isWanted);
const selectPages = statement((q) => q.select().from(checkouts).where(ofOrder).orderBy(checkouts.id));
// Of several calls at once, one reads.
const claim = statement(sql`
  update ${checkouts} set checked_at = ${param("now")}
  where ${byId(checkouts)} and coalesce(checked_at, '') <= ${param("before")}`);

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
  // Money in another currency, and its refund, is no part of the order's sums.
  if (known.currency !== row.currency) return;
  // Refunds that failed and disputes that were won come first, because the same money may have left in another way since.
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

/**
 * Closes the page on which an order can be paid, before something changes what is due. A payment that was made on it is
 * booked. Errors: unavailable if the provider does not answer; wrongState if it refuses.
 */
export async function closeCheckout(ctx: Ctx, orderId: string): Promise<void> {
  const open = await findOpen(ctx, orderId);
  if (open) await closePage(ctx, open);
}

/** Closes an open page, and adds what it knows. Errors: as `closeCheckout`. */
export async function closePage(ctx: Ctx, open: CheckoutRow): Promise<void> {
  const provider = await requireProvider(ctx);
  // A page that the provider refuses to open needs no closing.
  const row = await openPage(ctx, provider, open).catch((error: unknown) => {
    if (isRefusal(error)) return undefined;
    throw error;
  });
  if (row?.sessionId == null) return;
  await provider.close(row.sessionId);
  await reconcile(ctx, row);
}

/** Treats the page of an order as closed in a transaction that is rolled back, to try what comes after it. */
export async function assumeClosed(tx: Ctx, orderId: string): Promise<void> {
  await run(tx.db, expireOpen, { tenantId: tx.tenant.id, orderId });
}

/** As `closeCheckout`, for a caller who may see the order. Errors: also notFound. */
export async function closeOwnCheckout(ctx: Ctx, orderId: string): Promise<void> {
  await getOrder(ctx, orderId);
  await closeCheckout(ctx, orderId);
}

/**
 * Reads the payment pages of an order at the provider, and returns the order. For visitors, it does so once in five
 * seconds, and answers from the database if the provider does not answer.
 * @throws notFound; for staff also unavailable and wrongState.
 */
export async function checkPayment(ctx: Ctx, orderId: string): Promise<Rendered> {
  await getOrder(ctx, orderId);
  const isVisitor = isCustomer(ctx) || isPage(ctx);
  const [now, before] = [toTimestamp(ctx.now()), toTimestamp(ctx.now() - everyMs)];
  const values = { tenantId: ctx.tenant.id, orderId, isAll: isVisitor ? 0 : 1, now, before };
  for (const row of await all(ctx.db, selectPages, values)) {
    if (isVisitor && (await run(ctx.db, claim, { ...values, id: row.id })) === 0) continue;
    await reconcile(ctx, row).catch((error: unknown) => {
      if (!isVisitor || !(error instanceof AppError)) throw error;
    });
  }
  return getOrder(ctx, orderId);
}

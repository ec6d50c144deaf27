import { and, eq, isNotNull, isNull } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, byId, equals, get, ofStore, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError, wrongState } from "../../errors.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { needAttention } from "../orders/attention/attention.ts";
import { checkouts } from "../orders/checkouts/table.ts";
import { isCustomer, isPage } from "../orders/input.ts";
import { insertPayment, refreshPaymentStatus, settle } from "../orders/payments.ts";
import { getOrder, requireRow } from "../orders/read.ts";
import { payments } from "../orders/table.ts";
import { countHit } from "../rate-limits/service.ts";
import { openProvider } from "./accounts.ts";
import { isOld, isRefusal, type Provider, type Snapshot, statusOf } from "./provider.ts";
import { applyReturns, type PaymentRow } from "./refunds.ts";

/** How often the server reads an open page if no visitor asks for it. */
const checkMs = 120_000;
/** Returns when to read an open page again: at the latest when its order is due to expire, to close the page then. */
export const nextCheck = (now: number, orderEnds: string) =>
  toTimestamp(Math.min(now + checkMs, Date.parse(orderEnds)));
/** Limits how often visitors' requests read a page. */
const reads = { name: "payment pages", max: 1, windowMs: 5000 };

const ofCheckout = byId(checkouts);
const selectCheckout = statement((q) => q.select().from(checkouts).where(ofCheckout));
const ofOrder = and(ofStore(checkouts), equals(checkouts.orderId, "orderId"));
const isOpen = and(ofOrder, eq(checkouts.state, "open"));
const selectOpen = statement((q) => q.select().from(checkouts).where(isOpen));
const expireOpen = statement((q) => q.update(checkouts).set({ state: "expired" }).where(isOpen));
const isUnknown = and(ofCheckout, eq(checkouts.state, "open"), isNull(checkouts.sessionId));
// The request contains the buyer's email. It is erased once the page is known, because it is not needed any more.
const page = { ...params("sessionId", "url"), request: "{}" };
const savePage = statement((q) => q.update(checkouts).set(page).where(isUnknown));
const failure = { state: "failed", request: "{}", nextCheckAt: null } as const;
const fail = statement((q) => q.update(checkouts).set(failure).where(isUnknown));
const states = params("state", "intentId", "nextCheckAt");
const setState = statement((q) => q.update(checkouts).set(states).where(ofCheckout));
const isKnown = and(ofOrder, isNotNull(checkouts.sessionId));
const selectPages = statement((q) => q.select().from(checkouts).where(isKnown).orderBy(checkouts.id));
const isBooked = and(ofStore(payments), equals(payments.provider, "provider"), equals(payments.reference, "reference"));
const selectPayment = statement((q) => q.select().from(payments).where(isBooked));

export type CheckoutRow = NonNullable<(typeof selectCheckout)["row"]>;

export const findOpen = (ctx: Ctx, orderId: string) => get(ctx.db, selectOpen, { tenantId: ctx.tenant.id, orderId });

/**
 * Opens the page of a checkout, unless it is open already, and returns the checkout. If the provider refuses, the
 * checkout becomes `failed`. Errors: unavailable, wrongState.
 */
export async function openPage(ctx: Ctx, provider: Provider, row: CheckoutRow): Promise<CheckoutRow> {
  if (row.sessionId !== null) return row;
  const values = { tenantId: ctx.tenant.id, id: row.id };
  try {
    const opened = await provider.open(row, isOld(row, ctx.now()));
    if (!opened) throw wrongState("The provider has no page of this checkout.");
    await run(ctx.db, savePage, { ...values, ...opened });
  } catch (error) {
    // After a failure, a provider answers each repetition of the request with the same failure.
    const isFinal = isRefusal(error) || ![undefined, 409, 429].includes(statusOf(error));
    if (isFinal) await run(ctx.db, fail, values);
    throw error;
  }
  return (await get(ctx.db, selectCheckout, values)) as CheckoutRow;
}

/**
 * Reads a page at the provider, and adds the facts that are missing here. It may run at any time, in any order and any
 * number of times: facts are only added, and states only advance. Errors: unavailable, wrongState.
 */
export async function reconcile(ctx: Ctx, row: CheckoutRow): Promise<void> {
  const provider = await openProvider(ctx);
  const { id, sessionId } = await openPage(ctx, provider, row);
  if (sessionId === null) return;
  const snapshot = await provider.read(sessionId);
  const server: Ctx = { ...ctx, actor: { kind: "server" } };
  await inTransaction(server, (tx) => applySnapshot(tx, id, snapshot));
}

async function applySnapshot(tx: Ctx, id: string, snapshot: Snapshot): Promise<void> {
  const row = (await get(tx.db, selectCheckout, { tenantId: tx.tenant.id, id })) as CheckoutRow;
  const hasChanged = await advance(tx, row, snapshot);
  if (snapshot.payment === null) {
    if (hasChanged) await refreshPaymentStatus(tx, row.orderId, "order.updated");
    return;
  }
  const known = await bookPayment(tx, row, snapshot.payment);
  // A payment in another currency is not part of the order's sums, so its refunds are not recorded.
  if (known.currency === row.currency) await applyReturns(tx, known, snapshot);
}

const ranks = { open: 0, processing: 1, expired: 2, failed: 2, complete: 3 };

/** Records the state of a page, unless a later state is recorded. Returns whether the state has changed. */
async function advance(tx: Ctx, row: CheckoutRow, { state: found, intentId }: Snapshot): Promise<boolean> {
  const isNewer = ranks[found] > ranks[row.state];
  const state = isNewer ? found : row.state;
  const { expiresAt } = await requireRow(tx, row.orderId);
  await run(tx.db, setState, {
    ...{ tenantId: tx.tenant.id, id: row.id, state, intentId: intentId ?? row.intentId },
    nextCheckAt: state === "open" ? nextCheck(tx.now(), expiresAt) : null,
  });
  return isNewer;
}

/** Books a payment once. The order becomes paid only if amount and currency of the payment are those of the page. */
async function bookPayment(
  tx: Ctx,
  { orderId, provider, amountMinor, currency }: CheckoutRow,
  paid: NonNullable<Snapshot["payment"]>,
): Promise<PaymentRow> {
  const values = { tenantId: tx.tenant.id, id: orderId, provider, ...paid };
  const row = { ...values, paymentId: newId("pay"), recordedBy: null, now: toTimestamp(tx.now()) };
  if ((await run(tx.db, insertPayment, row)) > 0) {
    const isExpected = paid.amountMinor === amountMinor && paid.currency === currency;
    if (!isExpected) await needAttention(tx, orderId, "amount_mismatch");
    await settle(tx, orderId, isExpected);
  }
  return (await get(tx.db, selectPayment, values)) as PaymentRow;
}

/**
 * Closes the payment page of an order, before the amount due changes. If the page was paid meanwhile, books the
 * payment.
 * @throws notFound if the caller may not see the order; unavailable if the provider does not answer; wrongState if the
 * provider refuses.
 */
export async function closeCheckout(ctx: Ctx, orderId: string): Promise<void> {
  await getOrder(ctx, orderId);
  const open = await findOpen(ctx, orderId);
  if (open) await closePage(ctx, open);
}

/** Closes an open page, and records what the provider knows about it. Errors: unavailable, wrongState. */
export async function closePage(ctx: Ctx, open: CheckoutRow): Promise<void> {
  const provider = await openProvider(ctx);
  // If the provider refused to open the page, there is nothing to close.
  const row = await openPage(ctx, provider, open).catch((error: unknown) => {
    if (isRefusal(error)) return undefined;
    throw error;
  });
  if (row?.sessionId == null) return;
  await provider.close(row.sessionId);
  await reconcile(ctx, row);
}

/** Marks an order's page as closed, in the transaction of a dry run, which is rolled back. */
export async function assumeClosed(tx: Ctx, orderId: string): Promise<void> {
  await run(tx.db, expireOpen, { tenantId: tx.tenant.id, orderId });
}

/**
 * Reads the payment pages of an order at the provider, and returns the order. Visitors get the stored order if the
 * pages were read in the last five seconds, or if the provider does not answer.
 * @throws notFound; for staff also unavailable and wrongState.
 */
export async function checkPayment(ctx: Ctx, orderId: string): Promise<Rendered> {
  await getOrder(ctx, orderId);
  const isVisitor = isCustomer(ctx) || isPage(ctx);
  for (const row of await all(ctx.db, selectPages, { tenantId: ctx.tenant.id, orderId })) {
    if (isVisitor && (await countHit(ctx, reads, row.id)) > 0) continue;
    await reconcile(ctx, row).catch((error: unknown) => {
      if (!isVisitor || !(error instanceof AppError)) throw error;
    });
  }
  return getOrder(ctx, orderId);
}

import { and, count, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, bind, byId, equals, get, ofStore, param, params, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { invalidField, wrongState } from "../../errors.ts";
import { toAmount } from "../../values/money.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { appKeyOrigins, appKeys } from "../app-keys/table.ts";
import { dueOf } from "../orders/amounts.ts";
import { checkouts } from "../orders/checkouts/table.ts";
import { getOrder, type OrderRow, requireRow, selectLines } from "../orders/read.ts";
import { bumpOrder, orderStateError } from "../orders/statements.ts";
import { orders } from "../orders/table.ts";
import { type Account, openProvider, providers, requireAccount } from "./accounts.ts";
import type { Checkout, CheckoutInput } from "./model.ts";
import { type CheckoutRow, closePage, findOpen, nextCheck, openPage } from "./reconcile.ts";

/** The most payment pages of an order, and the most attempts to open one. A refused attempt makes no page. */
const max = { pages: 5, tries: 20 };
/** Stripe accepts pages that expire after 30 minutes to a day. One minute is for clock differences. */
const page = { min: 31 * 60_000, max: 86_400_000 - 60_000 };
const holdAfterMs = 10 * 60_000;
const maxHoldMs = 2 * 3_600_000;

const ofOrder = and(ofStore(checkouts), equals(checkouts.orderId, "orderId"));
const counts = { tries: count(), pages: count(checkouts.sessionId) };
const selectCounts = statement((q) => q.select(counts).from(checkouts).where(ofOrder));
const newCheckout = {
  ...params("id", "tenantId", "orderId", "amountMinor", "currency", "request", "expiresAt", "nextCheckAt"),
  ...({ provider: "stripe", state: "open" } as const),
  createdAt: param("now"),
};
const insertCheckout = statement((q) => q.insert(checkouts).values(newCheckout).onConflictDoNothing());
const extendHold = statement(sql`update ${orders} set expires_at = ${param("holdUntil")} where ${byId(orders)}`);
const selectKey = statement(sql`
  select 1 from ${appKeyOrigins} o join ${appKeys} k on k.id = o.app_id
  where o.tenant_id = ${param("tenantId")} and o.pattern in (${param("host")}, ${param("origin")})
    and k.active and k.published and k.revoked_at is null`);

/**
 * Opens a payment page for an order, or returns the one that is open.
 * @throws notFound, validationFailed; unavailable if the provider does not answer; wrongState if the provider refuses,
 * or for an order that cannot be paid.
 */
export async function openCheckout(ctx: Ctx, id: string, input: CheckoutInput): Promise<Checkout> {
  await getOrder(ctx, id);
  const account = await requireAccount(ctx);
  const urls = {
    success_url: await parseReturnUrl(ctx, input, "success_url"),
    cancel_url: await parseReturnUrl(ctx, input, "cancel_url"),
  };
  const order = await requireRow(ctx, id);
  let row = await findOpen(ctx, id);
  if (row && (row.amountMinor !== dueOf(order) || Date.parse(row.expiresAt) <= ctx.now())) {
    await closePage(ctx, row);
    row = undefined;
  }
  row ??= await addCheckout(ctx, id, account, urls);
  const opened = await openPage(ctx, await openProvider(ctx), row);
  const { id: checkout, provider, state, url, amountMinor, currency, expiresAt } = opened;
  const amount = { amount: toAmount(amountMinor, order.currencyDigits), amount_minor: amountMinor };
  return { id: checkout, provider, state, url: url ?? "", ...amount, currency, expires_at: expiresAt };
}

/** Reads a URL to which the provider sends buyers back. It must have an exact origin of an app key, or be local. */
async function parseReturnUrl(ctx: Ctx, input: CheckoutInput, field: keyof CheckoutInput): Promise<string> {
  const url = URL.parse(input[field]);
  const isPlain = url?.username === "" && url.password === "";
  const isHere = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/.test(url?.origin ?? "");
  if (!isPlain || !(isHere || url.protocol === "https:")) throw invalidField(field, "must be an https address");
  const { host, origin, href } = url;
  if (isHere || (await get(ctx.db, selectKey, { tenantId: ctx.tenant.id, host, origin }))) return href;
  const message = `has the origin ${origin}, which no published key of the store lists. An entry with * does not count.`;
  throw invalidField(field, message);
}

async function addCheckout(ctx: Ctx, orderId: string, account: Account, urls: CheckoutInput): Promise<CheckoutRow> {
  return inTransaction(ctx, async (tx) => {
    const order = await requireRow(tx, orderId);
    const amountMinor = dueOf(order);
    await requirePayable(tx, order, amountMinor);
    const values = { tenantId: tx.tenant.id, id: newId("chk"), orderId, now: toTimestamp(tx.now()) };
    const lines = await all(tx.db, selectLines, { ...values, id: orderId });
    // A page expires ten minutes before its order. If needed, the order is held longer, up to two hours in all.
    const hold = Date.parse(order.expiresAt);
    const expiresAt = Math.min(Math.max(tx.now() + page.min, hold - holdAfterMs), tx.now() + page.max);
    const latest = Date.parse(order.createdAt) + maxHoldMs;
    const holdUntil = toTimestamp(Math.max(hold, Math.min(expiresAt + holdAfterMs, latest)));
    const methods = JSON.parse(account.methods) as string[];
    const request = { ...urls, id: values.id, due: amountMinor, methods, expiresAt };
    await run(tx.db, insertCheckout, {
      ...{ ...values, amountMinor, currency: order.currency, expiresAt: toTimestamp(expiresAt) },
      request: JSON.stringify(providers[account.provider].requestOf(order, lines, request)),
      nextCheckAt: nextCheck(tx.now(), holdUntil),
    });
    if (holdUntil > order.expiresAt) {
      const extended = { ...values, id: orderId, holdUntil };
      await tx.db.batch([bind(extendHold, extended), bind(bumpOrder, extended)]);
    }
    // If another call has added a checkout meanwhile, nothing was inserted, and that checkout is returned.
    return (await findOpen(tx, orderId)) as CheckoutRow;
  });
}

async function requirePayable(tx: Ctx, order: OrderRow, due: number): Promise<void> {
  const { id, status, paymentStatus } = order;
  if (status !== "pending") throw orderStateError(id, status, "pending orders can be paid on a page");
  if (paymentStatus === "payment_processing")
    throw wrongState(`The provider has not yet decided about a payment of order ${id}.`);
  if (due <= 0) throw wrongState(`Nothing is due for order ${id}.`);
  const { pages = 0, tries = 0 } = (await get(tx.db, selectCounts, { tenantId: tx.tenant.id, orderId: id })) ?? {};
  if (pages < max.pages && tries < max.tries) return;
  const message = `Order ${id} has had ${max.pages} payment pages, the most that an order can have.`;
  throw wrongState(message, { remedy: "Pay it in another way, or order again." });
}

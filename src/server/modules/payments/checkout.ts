import { and, count, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, bind, byId, equals, get, ofStore, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { invalidField, wrongState } from "../../errors.ts";
import { toAmount } from "../../values/money.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { matchOrigin, parseOriginPattern } from "../app-keys/origin-pattern.ts";
import { appKeyOrigins, appKeys } from "../app-keys/table.ts";
import { checkouts, isProcessing } from "../orders/checkouts/table.ts";
import { dueOf } from "../orders/payments.ts";
import { type OrderRow, requireRow, selectLines } from "../orders/read.ts";
import { bumpOrder, orderStateError } from "../orders/statements.ts";
import { orders } from "../orders/table.ts";
import { requireOwn } from "./access.ts";
import { type Account, openProvider, requireAccount } from "./accounts.ts";
import { closeCheckout } from "./close.ts";
import type { Checkout, CheckoutInput } from "./model.ts";
import { type CheckoutRow, findCheckout, findOpen, openPage } from "./pages.ts";
import { providers } from "./providers.ts";

/** Pages of an order that the provider opened, and tries to open one. */
const maxPages = 5;
const maxTries = 20;
/** Stripe keeps a page for 30 minutes to a day; a minute is for its clock. */
const page = { min: 31 * 60_000, max: 86_400_000 - 60_000 };
const holdAfterMs = 10 * 60_000;
const maxHoldMs = 2 * 3_600_000;
/** When the server reads a new page at the provider if it hears nothing. */
const firstCheckMs = 120_000;

const selectCounts = statement((q) =>
  q
    .select({ tries: count(), pages: count(checkouts.sessionId) })
    .from(checkouts)
    .where(and(ofStore(checkouts), equals(checkouts.orderId, "orderId"))),
);
const insertCheckout = statement(sql`
  insert into ${checkouts} (id, tenant_id, order_id, provider, state, amount_minor, currency, request, created_at,
    expires_at, next_check_at)
  select ${param("id")}, tenant_id, id, 'stripe', 'open', ${param("amountMinor")}, currency, ${param("request")},
    ${param("now")}, ${param("expiresAt")}, ${param("nextCheckAt")}
  from ${orders} where tenant_id = ${param("tenantId")} and id = ${param("orderId")} and status = 'pending'
    and not ${isProcessing("orders.id")} on conflict do nothing`);
const extendHold = statement(sql`update ${orders} set expires_at = ${param("holdUntil")} where ${byId(orders)}`);
const selectOrigins = statement((q) =>
  q
    .select({ pattern: appKeyOrigins.pattern })
    .from(appKeyOrigins)
    .innerJoin(appKeys, eq(appKeys.id, appKeyOrigins.appId))
    .where(
      and(ofStore(appKeyOrigins), sql`${appKeys.active} and ${appKeys.published} and ${appKeys.revokedAt} is null`),
    ),
);

/**
 * Opens a page of the provider on which an order is paid, or returns the one that is open.
 * @throws notFound, validationFailed; unavailable if the provider does not answer; wrongState if it refuses, or for an
 * order that cannot be paid.
 */
export async function openCheckout(ctx: Ctx, id: string, input: CheckoutInput): Promise<Checkout> {
  const order = await requireOwn(ctx, id);
  const account = await requireAccount(ctx);
  const allowed = await allowedOrigins(ctx);
  const success = parseReturnUrl("success_url", input.success_url, allowed);
  const cancel = parseReturnUrl("cancel_url", input.cancel_url, allowed);
  let row = await findOpen(ctx, id);
  const isStale = row && (row.amountMinor !== dueOf(order) || Date.parse(row.expiresAt) <= ctx.now());
  if (isStale) {
    await closeCheckout(ctx, id);
    row = undefined;
  }
  row ??= await addCheckout(ctx, id, { account, success, cancel });
  return show(await openPage(ctx, openProvider(ctx, account), row), order);
}

/** Origins of the store's keys, without patterns of several hosts. */
async function allowedOrigins(ctx: Ctx): Promise<(origin: string) => boolean> {
  const rows = await all(ctx.db, selectOrigins, { tenantId: ctx.tenant.id });
  const exact = rows.map(({ pattern }) => parseOriginPattern(pattern)).filter(({ wildcard }) => !wildcard);
  return (origin) => matchOrigin(exact, origin) !== null;
}

/** Returns an address to which a provider sends buyers back. Errors: validationFailed. */
function parseReturnUrl(field: string, text: string, isAllowed: (origin: string) => boolean): string {
  const url = URL.parse(text);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (!url || !isWeb || url.username !== "" || url.password !== "")
    throw invalidField(field, "must be an https address");
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (isHere || (url.protocol === "https:" && isAllowed(url.origin))) return url.href;
  throw invalidField(
    field,
    `must be on an https origin of one of the store's keys. Add it: bodega origin add <key> ${url.origin}`,
  );
}

async function addCheckout(
  ctx: Ctx,
  orderId: string,
  { account, ...urls }: { account: Account; success: string; cancel: string },
): Promise<CheckoutRow> {
  const id = newId("chk");
  const values = { tenantId: ctx.tenant.id, id, orderId };
  return inTransaction(ctx, async (tx) => {
    const order = await requireRow(tx, orderId);
    const due = dueOf(order);
    await requirePayable(tx, order, due);
    const lines = await all(tx.db, selectLines, { tenantId: tx.tenant.id, id: orderId });
    const times = timesOf(order, tx.now());
    const kind = providers[account.provider].account;
    const { methods } = account;
    const request = kind.requestOf(order, lines, { ...urls, id, due, methods, expiresAt: times.expiresAt });
    const now = tx.now();
    const added = await run(tx.db, insertCheckout, {
      ...{ ...values, amountMinor: due, request: JSON.stringify(request), now: toTimestamp(now) },
      ...{ expiresAt: toTimestamp(times.expiresAt), nextCheckAt: toTimestamp(now + firstCheckMs) },
    });
    // Another call has opened one meanwhile.
    const row = added > 0 ? await findCheckout(tx, id) : await findOpen(tx, orderId);
    if (!row) throw wrongState(`A payment of order ${orderId} is being decided.`);
    if (added > 0 && times.holdUntil > Date.parse(order.expiresAt)) {
      const hold = {
        tenantId: tx.tenant.id,
        id: orderId,
        now: toTimestamp(now),
        holdUntil: toTimestamp(times.holdUntil),
      };
      await tx.db.batch([bind(extendHold, hold), bind(bumpOrder, hold)]);
    }
    return row;
  });
}

async function requirePayable(tx: Ctx, order: OrderRow, due: number): Promise<void> {
  const { id, status, currency } = order;
  if (status !== "pending") throw orderStateError(id, status, "pending orders can be paid on a page");
  if (due <= 0) throw wrongState(`Nothing is due for order ${id}.`);
  if (!providers.stripe.account.takesCurrency(currency)) throw wrongState(`Stripe does not charge ${currency}.`);
  const { pages = 0, tries = 0 } = (await get(tx.db, selectCounts, { tenantId: tx.tenant.id, orderId: id })) ?? {};
  if (pages < maxPages && tries < maxTries) return;
  throw wrongState(`Order ${id} has had ${maxPages} payment pages, the most that an order can have.`, {
    remedy: "Pay it in another way, or order again.",
  });
}

/** The page ends ten minutes before the order, whose hold a page extends to at most two hours after it was placed. */
function timesOf(order: OrderRow, now: number): { expiresAt: number; holdUntil: number } {
  const hold = Date.parse(order.expiresAt);
  const expiresAt = Math.min(Math.max(now + page.min, hold - holdAfterMs), now + page.max);
  const latest = Date.parse(order.createdAt) + maxHoldMs;
  return { expiresAt, holdUntil: Math.max(hold, Math.min(expiresAt + holdAfterMs, latest)) };
}

function show(row: CheckoutRow, { currencyDigits }: OrderRow): Checkout {
  const { id, provider, state, url, amountMinor, currency, expiresAt } = row;
  const amount = { amount: toAmount(amountMinor, currencyDigits), amount_minor: amountMinor };
  return { id, provider, state, url: url ?? "", ...amount, currency, expires_at: expiresAt };
}

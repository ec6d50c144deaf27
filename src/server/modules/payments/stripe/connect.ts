import { and, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, get, ofStore, param, params, run, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { conflict, invalidField, wrongState } from "../../../errors.ts";
import { toTimestamp } from "../../../values/stamps.ts";
import { recordAudit } from "../../audit/service.ts";
import { checkouts } from "../../orders/checkouts/table.ts";
import { orders } from "../../orders/table.ts";
import { type Account, findAccount, isAccount, keyOf, placeOf, requireAccount } from "../accounts.ts";
import { isAccountFault } from "../provider.ts";
import { closePage } from "../reconcile.ts";
import { paymentAccounts, paymentEvents } from "../table.ts";
import { type CallStripe, expectStatus, openStripe, stripeVersion } from "./client.ts";
import { eventTypes } from "./events.ts";
import { factorOf } from "./units.ts";

const keyForm = /^(?:sk|rk)_(test|live)_[A-Za-z0-9_]{8,240}$/;
/** How long the signing secret of the previous endpoint stays valid, in milliseconds. */
const overlapMs = 86_400_000;

const columns = {
  ...params("tenantId", "account", "isLive", "key", "keyEnd", "methods", "endpointId", "secret"),
  ...params("olderSecret", "olderUntil"),
};
const times = { eventsUntil: param("now"), nextPollAt: param("now"), createdAt: param("now") };
const save = statement((q) =>
  q
    .insert(paymentAccounts)
    .values({ ...columns, ...times, provider: "stripe" })
    .onConflictDoUpdate({ target: [paymentAccounts.tenantId, paymentAccounts.provider], set: columns }),
);
const remove = statement((q) => q.delete(paymentAccounts).where(isAccount));
const isOpen = and(ofStore(checkouts), eq(checkouts.state, "open"));
const selectOpen = statement((q) => q.select().from(checkouts).where(isOpen));
const endOpen = statement((q) =>
  q.update(checkouts).set({ state: "failed", request: "{}", nextCheckAt: null }).where(isOpen),
);

const recentMs = 7 * 86_400_000;
/** Pages of the last ten minutes are not reported, because their payments may be booked soon. */
const quietMs = 600_000;

// A page is complete here when its payment was booked. So a page that is paid only at Stripe was not booked.
const isUnbooked = sql`${checkouts.sessionId} in (select value from json_each(${param("sessions")}))
  and ${checkouts.state} <> 'complete'`;
const selectUnbooked = statement((q) =>
  q
    .select({ number: orders.number })
    .from(checkouts)
    .innerJoin(orders, eq(orders.id, checkouts.orderId))
    .where(and(ofStore(checkouts), isUnbooked))
    .orderBy(orders.number),
);

// Live events for a test key, or test events for a live key. They come from another endpoint of the account.
const isOther = and(ofStore(paymentEvents), sql`${paymentEvents.isLive} <> ${param("isLive")}`);
const selectOther = statement((q) => q.select({ id: paymentEvents.id }).from(paymentEvents).where(isOther).limit(1));

const stripeOf = (ctx: Ctx, account: Account) => openStripe(keyOf(ctx, account), ctx.payments);
const sealedAt = ({ vault, tenant }: Ctx, field: "key" | "secret", text: string) =>
  vault.seal("payment", placeOf(tenant.id, field), text);
const modeOf = ({ isLive }: Pick<Account, "isLive">) => (isLive ? "live" : "test");

/**
 * Connects a store with its account at Stripe, or replaces the key. Registers a new webhook endpoint at Stripe if the
 * server has a public https address.
 * @param methods payment methods of Stripe; card by default.
 * @throws validationFailed; unavailable without an answer; wrongState for a refusal; conflict for another account.
 */
export async function connectStripe(ctx: Ctx, { key, methods = [] }: { key: string; methods?: readonly string[] }) {
  const [, mode] = keyForm.exec(key) ?? [];
  if (!mode) {
    const form = "must be a secret key of Stripe (sk_test_… or sk_live_…) or restricted (rk_…)";
    throw invalidField("key", `${form}, neither the publishable key (pk_…) nor a signing secret (whsec_…)`);
  }
  const { tenant } = ctx;
  factorOf(tenant.currency);
  const call = openStripe(key, ctx.payments);
  const { id: account } = await call((stripe) => stripe.accounts.retrieveCurrent());
  const before = await findAccount(ctx);
  if (before && (before.account !== account || modeOf(before) !== mode)) {
    const now = `The store is connected with ${before.account} in ${modeOf(before)} mode.`;
    const remedy = `To change it, disconnect the store first: bodega payment disconnect -n ${tenant.namespace}`;
    throw conflict(`${now} This key is of ${account} in ${mode} mode.`, { remedy });
  }
  const endpoint = await replaceEndpoint(ctx, call, before);
  await inTransaction(ctx, async (tx) => {
    await run(tx.db, save, {
      ...{ tenantId: tenant.id, account, isLive: mode === "live" ? 1 : 0, ...endpoint, now: toTimestamp(tx.now()) },
      ...{ key: sealedAt(ctx, "key", key), keyEnd: key.slice(-4) },
      methods: methods.length > 0 ? JSON.stringify(methods) : (before?.methods ?? '["card"]'),
    });
    const details = { mode, endpoint: endpoint.endpointId !== null };
    await recordAudit(tx, { event: "payment.connected", subject: account, details });
  });
  return showAccount(ctx);
}

/** Returns the URL for webhook calls; null without a public https address. A simulated Stripe also calls http. */
function endpointUrl({ payments = {}, tenant }: Ctx): string | null {
  const { publicUrl, stripeUrl } = payments;
  if (publicUrl === undefined || !(stripeUrl?.startsWith("http:") || publicUrl.startsWith("https:"))) return null;
  return `${publicUrl}/payments/stripe/?namespace=${tenant.namespace}`;
}

/** Registers a new endpoint if the server has an address for it. Returns the new values of the account's columns. */
async function replaceEndpoint(ctx: Ctx, call: CallStripe, before: Account | undefined) {
  const url = endpointUrl(ctx);
  const { endpointId = null, secret = null, olderSecret = null, olderUntil = null } = before ?? {};
  if (url === null) return { endpointId, secret, olderSecret, olderUntil };
  const made = await call(({ webhookEndpoints }) =>
    webhookEndpoints.create({
      ...{ url, enabled_events: [...eventTypes], api_version: stripeVersion, description: "Bodega" },
      metadata: { bodega: ctx.tenant.id },
    }),
  );
  if (endpointId !== null) await removeEndpoint(call, endpointId);
  const older = { olderSecret: secret, olderUntil: toTimestamp(ctx.now() + overlapMs) };
  return { endpointId: made.id, secret: sealedAt(ctx, "secret", made.secret as string), ...older };
}

const removeEndpoint = (call: CallStripe, id: string) =>
  call(({ webhookEndpoints }) => webhookEndpoints.del(id)).catch(expectStatus(404));

/** Lists what is wrong with an endpoint at Stripe. If `url` is null, its address is not checked. */
async function findFaults(call: CallStripe, id: string, url: string | null): Promise<string[]> {
  const found = await call(({ webhookEndpoints }) => webhookEndpoints.retrieve(id)).catch(expectStatus(404));
  if (!found) return ["The endpoint was deleted at Stripe."];
  const missing = eventTypes.filter((type) => !found.enabled_events.some((one) => one === type || one === "*"));
  return [
    ...(url === null || found.url === url ? [] : [`The endpoint at Stripe has another address: ${found.url}`]),
    ...(found.status === "enabled" ? [] : ["The endpoint is disabled at Stripe."]),
    ...(found.api_version === stripeVersion ? [] : [`The endpoint has the API version ${found.api_version}.`]),
    ...(missing.length === 0 ? [] : [`The endpoint does not get ${missing.join(", ")}.`]),
  ];
}

export async function showAccount(ctx: Ctx) {
  const { provider, account, isLive, keyEnd, methods, endpointId, createdAt } = await requireAccount(ctx);
  return {
    ...{ provider, account, mode: modeOf({ isLive }), key: `…${keyEnd}`, methods: JSON.parse(methods) as string[] },
    ...{ endpoint_id: endpointId, endpoint_url: endpointId === null ? null : endpointUrl(ctx), created_at: createdAt },
  };
}

export const registerAgain = "Connect the store again, with BODEGA_PUBLIC_URL set as for the server:";

/** Returns the account, and the `problems` of its key and endpoint at Stripe. Errors: unavailable, wrongState. */
export async function checkAccount(ctx: Ctx) {
  const account = await requireAccount(ctx);
  const call = stripeOf(ctx, account);
  const { endpointId, isLive } = account;
  const url = endpointUrl(ctx);
  // Checks the key. If the store has no endpoint, no other call checks the key.
  const { charges_enabled: mayCharge } = await call((stripe) => stripe.accounts.retrieveCurrent());
  if (isLive && !mayCharge) {
    const remedy = "Complete the account's details in Stripe's dashboard.";
    throw wrongState(`Stripe does not allow ${account.account} to charge.`, { remedy });
  }
  const none = url === null ? [] : ["No endpoint is registered at Stripe."];
  const problems = endpointId === null ? none : await findFaults(call, endpointId, url);
  const other = await get(ctx.db, selectOther, { tenantId: ctx.tenant.id, isLive: isLive ? 1 : 0 });
  if (other) problems.push("Stripe also reports payments of the other mode. Remove the endpoint of that mode there.");
  return { ...(await showAccount(ctx)), problems };
}

/**
 * Closes the open payment pages, removes the endpoint, and deletes the key. If Stripe no longer accepts the key, pages
 * and endpoint stay at Stripe. Errors: unavailable, wrongState.
 */
export async function disconnectStripe(ctx: Ctx): Promise<void> {
  const account = await requireAccount(ctx);
  const values = { tenantId: ctx.tenant.id };
  try {
    for (const row of await all(ctx.db, selectOpen, values)) await closePage(ctx, row);
    if (account.endpointId !== null) await removeEndpoint(stripeOf(ctx, account), account.endpointId);
  } catch (error) {
    if (!isAccountFault(error)) throw error;
  }
  await inTransaction(ctx, async (tx) => {
    await run(tx.db, endOpen, values);
    await run(tx.db, remove, values);
    await recordAudit(tx, { event: "payment.disconnected", subject: account.account });
  });
}

/** Returns the orders of the last week that were paid at Stripe but not booked. Errors: unavailable, wrongState. */
export async function findUnbooked(ctx: Ctx): Promise<{ number: number }[]> {
  const call = stripeOf(ctx, await requireAccount(ctx));
  const created = { gte: Math.floor((ctx.now() - recentMs) / 1000), lte: Math.floor((ctx.now() - quietMs) / 1000) };
  const query = { status: "complete", created, limit: 100 } as const;
  const found = await call(({ checkout }) => checkout.sessions.list(query).autoPagingToArray({ limit: 1000 }));
  const sessions = found.filter(({ payment_status }) => payment_status === "paid").map(({ id }) => id);
  return all(ctx.db, selectUnbooked, { tenantId: ctx.tenant.id, sessions: JSON.stringify(sessions) });
}

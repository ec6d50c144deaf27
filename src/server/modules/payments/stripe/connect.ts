import { and, eq } from "drizzle-orm";
import type { Stripe } from "stripe";
import type { Ctx } from "../../../context.ts";
import { all, ofStore, param, params, run, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { conflict, invalidField, wrongState } from "../../../errors.ts";
import { toTimestamp } from "../../../values/stamps.ts";
import { recordAudit } from "../../audit/service.ts";
import { checkouts } from "../../orders/checkouts/table.ts";
import { type Account, findAccount, isAccount, keyOf, placeOf, requireAccount } from "../accounts.ts";
import { closeCheckout } from "../close.ts";
import { paymentAccounts } from "../table.ts";
import { callStripe, faultOf, openStripe, stripeVersion } from "./client.ts";
import { eventTypes } from "./events.ts";
import { takesCurrency } from "./units.ts";

const keyForm = /^(?:sk|rk)_(test|live)_[A-Za-z0-9_]{8,240}$/;
/** How long the secret of a replaced endpoint stays valid. */
const overlapMs = 86_400_000;

const columns = {
  ...params("tenantId", "account", "isLive", "key", "keyEnd", "methods", "endpointId", "secret"),
  ...params("olderSecret", "olderUntil"),
};
const save = statement((q) =>
  q
    .insert(paymentAccounts)
    .values({
      ...columns,
      ...{ provider: "stripe", eventsUntil: param("now"), nextPollAt: param("now"), createdAt: param("now") },
    })
    .onConflictDoUpdate({ target: [paymentAccounts.tenantId, paymentAccounts.provider], set: columns }),
);
const remove = statement((q) => q.delete(paymentAccounts).where(isAccount));
const isOpen = and(ofStore(checkouts), eq(checkouts.state, "open"));
const selectOpen = statement((q) => q.select({ orderId: checkouts.orderId }).from(checkouts).where(isOpen));
const endOpen = statement((q) =>
  q.update(checkouts).set({ state: "failed", error: "disconnected", request: "{}", nextCheckAt: null }).where(isOpen),
);

export interface ConnectInput {
  key: string;
  /** Payment methods of Stripe; card by default. */
  methods?: readonly string[] | undefined;
  /** Allows another account or mode than the connected one. */
  replace?: boolean | undefined;
}

/**
 * Connects a store with its account at Stripe, or replaces the key. Registers an endpoint for events if the server has
 * a public https address.
 * @throws validationFailed; unavailable if Stripe does not answer; wrongState if it refuses; conflict for another account.
 */
export async function connectStripe(ctx: Ctx, { key, methods = [], replace = false }: ConnectInput) {
  const mode = parseKey(key);
  const { tenant } = ctx;
  if (!takesCurrency(tenant.currency)) {
    const why = "Stripe charges neither MGA nor currencies of three decimals, nor some others.";
    throw wrongState(`Stripe does not charge ${tenant.currency}, the currency of the store.`, { remedy: why });
  }
  const before = await findAccount(ctx);
  const stripe = (await openStripe(key, ctx.payments ?? {})) as Stripe;
  const { id: account } = await callStripe(() => stripe.accounts.retrieveCurrent());
  const isLive = mode === "live";
  if (before && (before.account !== account || before.isLive !== isLive) && !replace) {
    const modeOf = (live: boolean) => (live ? "live" : "test");
    throw conflict(
      `The store is connected with ${before.account} in ${modeOf(before.isLive)} mode. This key is of ${account} in ${modeOf(isLive)} mode.`,
      { remedy: "To replace it, add --replace. Payments of the old account are not read any more." },
    );
  }
  const isSame = before?.account === account && before.isLive === isLive;
  if (before && !isSame) await leaveAccount(ctx, before);
  const endpoint = await registerEndpoint(ctx, stripe, isSame ? before : undefined);
  const seal = (field: "key" | "secret", text: string) => ctx.vault.seal("payment", placeOf(tenant.id, field), text);
  const isNew = endpoint?.secret !== undefined;
  const kept = { secret: endpoint ? (before?.secret ?? null) : null, olderSecret: null, olderUntil: null };
  await inTransaction(ctx, async (tx) => {
    const now = tx.now();
    const until = toTimestamp(now + overlapMs);
    if (!isSame) await run(tx.db, endOpen, { tenantId: tenant.id });
    await run(tx.db, save, {
      ...{ tenantId: tenant.id, account, isLive: isLive ? 1 : 0, key: seal("key", key), keyEnd: key.slice(-4) },
      methods: JSON.stringify(methods.length > 0 ? methods : (before?.methods ?? ["card"])),
      endpointId: endpoint?.id ?? null,
      ...kept,
      ...(isNew && { secret: seal("secret", endpoint.secret as string), olderSecret: before?.secret ?? null }),
      ...(isNew && { olderUntil: before?.secret == null ? null : until }),
      now: toTimestamp(now),
    });
    await recordAudit(tx, { event: "payment.connected", subject: account, details: { mode, endpoint: !!endpoint } });
  });
  return showAccount(ctx);
}

function parseKey(key: string): "test" | "live" {
  const [, mode] = keyForm.exec(key) ?? [];
  if (mode === "test" || mode === "live") return mode;
  const what = key.startsWith("pk_")
    ? "is the publishable key. "
    : key.startsWith("whsec_")
      ? "is a signing secret. "
      : "";
  throw invalidField(
    "key",
    `${what}must be a secret key of Stripe (sk_test_… or sk_live_…) or a restricted one (rk_…)`,
  );
}

/** The address at which Stripe reaches the server; null without one. A stand-in on this machine needs no https. */
function endpointUrl({ payments = {}, tenant }: Ctx): string | null {
  const { publicUrl, stripeUrl } = payments;
  const isLocal = stripeUrl !== undefined && /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::|$)/.test(stripeUrl);
  if (publicUrl === undefined || !(isLocal || publicUrl.startsWith("https:"))) return null;
  return `${publicUrl}/payments/stripe/?namespace=${tenant.namespace}`;
}

/** Keeps the endpoint of this account if it is still right, else makes one. `secret` is that of a new one. */
async function registerEndpoint(ctx: Ctx, stripe: Stripe, before: Account | undefined) {
  const url = endpointUrl(ctx);
  const old = before?.endpointId ?? null;
  if (url === null) return old === null ? undefined : { id: old };
  if (old !== null && before?.secret != null && (await findFaults(stripe, old, url)).length === 0) return { id: old };
  const made = await callStripe(() =>
    stripe.webhookEndpoints.create({
      ...{ url, enabled_events: [...eventTypes], api_version: stripeVersion, description: "Bodega" },
      metadata: { bodega: ctx.tenant.id },
    }),
  );
  if (old !== null) await removeEndpoint(stripe, old);
  return { id: made.id, secret: made.secret };
}

async function removeEndpoint(stripe: Stripe, id: string): Promise<void> {
  try {
    await callStripe(() => stripe.webhookEndpoints.del(id));
  } catch (error) {
    if (faultOf(error)?.statusCode !== 404) throw error;
  }
}

/** What is wrong with an endpoint at Stripe. */
async function findFaults(stripe: Stripe, id: string, url: string): Promise<string[]> {
  try {
    const found = await callStripe(() => stripe.webhookEndpoints.retrieve(id));
    const missing = eventTypes.filter((type) => !found.enabled_events.some((one) => one === type || one === "*"));
    return [
      ...(found.url === url ? [] : [`The endpoint at Stripe has another address: ${found.url}`]),
      ...(found.status === "enabled" ? [] : ["The endpoint is disabled at Stripe."]),
      ...(found.api_version === stripeVersion ? [] : [`The endpoint has the API version ${found.api_version}.`]),
      ...(missing.length === 0 ? [] : [`The endpoint does not get ${missing.join(", ")}.`]),
    ];
  } catch (error) {
    if (faultOf(error)?.statusCode === 404) return ["The endpoint was deleted at Stripe."];
    throw error;
  }
}

export async function showAccount(ctx: Ctx) {
  const { account, isLive, keyEnd, methods, endpointId, createdAt } = await requireAccount(ctx);
  const key = `…${keyEnd}`;
  const url = endpointId === null ? null : endpointUrl(ctx);
  const endpoint = { endpoint_id: endpointId, endpoint_url: url };
  return {
    provider: "stripe",
    account,
    mode: isLive ? "live" : "test",
    key,
    methods,
    ...endpoint,
    created_at: createdAt,
  };
}

/** Compares the account with what Stripe knows. `problems` is empty if all is right. Errors: unavailable, wrongState. */
export async function checkAccount(ctx: Ctx) {
  const account = await requireAccount(ctx);
  const stripe = (await openStripe(keyOf(ctx, account), ctx.payments ?? {})) as Stripe;
  const { id } = await callStripe(() => stripe.accounts.retrieveCurrent());
  const problems = id === account.account ? [] : [`The key is of another account: ${id}`];
  const url = endpointUrl(ctx);
  if (account.endpointId === null) problems.push(...(url === null ? [] : ["Stripe has no endpoint for its events."]));
  else problems.push(...(await findFaults(stripe, account.endpointId, url ?? "")));
  return { ...(await showAccount(ctx)), problems };
}

/**
 * Closes the open payment pages and removes the endpoint. If Stripe does not accept the key any more, both stay there.
 */
async function leaveAccount(ctx: Ctx, account: Account): Promise<void> {
  try {
    for (const { orderId } of await all(ctx.db, selectOpen, { tenantId: ctx.tenant.id }))
      await closeCheckout(ctx, orderId);
    const stripe = (await openStripe(keyOf(ctx, account), ctx.payments ?? {})) as Stripe;
    if (account.endpointId !== null) await removeEndpoint(stripe, account.endpointId);
  } catch (error) {
    if (faultOf(error)?.statusCode !== 401) throw error;
  }
}

/** Closes the open payment pages, removes the endpoint, and forgets the key. Errors: unavailable, wrongState. */
export async function disconnectStripe(ctx: Ctx) {
  const account = await requireAccount(ctx);
  const shown = await showAccount(ctx);
  await leaveAccount(ctx, account);
  const values = { tenantId: ctx.tenant.id };
  await inTransaction(ctx, async (tx) => {
    await run(tx.db, endOpen, values);
    await run(tx.db, remove, values);
    await recordAudit(tx, { event: "payment.disconnected", subject: account.account });
  });
  return shown;
}

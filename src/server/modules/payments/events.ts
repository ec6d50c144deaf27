import { and, or } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { byId, equals, get, ofStore, param, params, run, statement } from "../../db/statement.ts";
import { notAuthenticated } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { checkouts } from "../orders/checkouts/table.ts";
import { type Account, findAccount, placeOf, providers } from "./accounts.ts";
import type { ProviderEvent } from "./provider.ts";
import { reconcile } from "./reconcile.ts";
import { paymentEvents } from "./table.ts";

const selectEvent = statement((q) => q.select({ id: paymentEvents.id }).from(paymentEvents).where(byId(paymentEvents)));
const newEvent = { ...params("tenantId", "id", "type", "object", "isLive"), createdAt: param("now") };
const insertEvent = statement((q) => q.insert(paymentEvents).values(newEvent).onConflictDoNothing());
const isNamed = or(equals(checkouts.sessionId, "about"), equals(checkouts.intentId, "about"));
const isOfEvent = and(ofStore(checkouts), isNamed);
const selectCheckout = statement((q) => q.select().from(checkouts).where(isOfEvent));

/**
 * Verifies the signature of a webhook call, and handles its event. Returns after the changes were committed.
 * @throws notAuthenticated without a valid signature; malformedRequest; unavailable if the provider must call again.
 */
export async function receiveEvent(ctx: Ctx, body: Uint8Array): Promise<void> {
  const account = await findAccount(ctx);
  const call = { body, signature: ctx.signature ?? "", now: ctx.now() };
  const event = account && (await providers.stripe.verify({ ...call, secrets: secretsOf(ctx, account) }));
  if (!event) {
    const remedy = "Sign the call with the secret of the store's endpoint at Stripe.";
    throw notAuthenticated("The signature is missing, wrong or too old.", { remedy });
  }
  await handleEvent(ctx, account, event);
}

function secretsOf({ vault, tenant, now }: Ctx, { secret, olderSecret, olderUntil }: Account): string[] {
  const isValid = olderUntil !== null && Date.parse(olderUntil) > now();
  const sealed = [secret, isValid ? olderSecret : null].filter((text) => text !== null);
  return sealed.flatMap((text) => vault.open("payment", placeOf(tenant.id, "secret"), text) ?? []);
}

/** Reads the page that an event is about. Ignores an event that was handled before. Errors: unavailable, wrongState. */
export async function handleEvent(ctx: Ctx, account: Account, event: ProviderEvent): Promise<void> {
  const values = { tenantId: ctx.tenant.id, ...event, isLive: event.isLive ? 1 : 0, now: toTimestamp(ctx.now()) };
  if (await get(ctx.db, selectEvent, values)) return;
  const isOfKey = event.isLive === account.isLive;
  const row = isOfKey ? await get(ctx.db, selectCheckout, values) : undefined;
  if (row) await reconcile(ctx, row);
  // The page of an event may not be known yet. The event is then not recorded, so that polling handles it later.
  if (row || !isOfKey) await run(ctx.db, insertEvent, values);
}

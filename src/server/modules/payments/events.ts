import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, ofStore, param, params, run, statement } from "../../db/statement.ts";
import { notAuthenticated } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { checkouts } from "../orders/checkouts/table.ts";
import { type Account, findAccount, openProvider, placeOf } from "./accounts.ts";
import type { ProviderEvent } from "./provider.ts";
import { providers } from "./providers.ts";
import { reconcile } from "./reconcile.ts";
import { paymentEvents } from "./table.ts";

const selectEvent = statement((q) =>
  q
    .select({ id: paymentEvents.id })
    .from(paymentEvents)
    .where(sql`${ofStore(paymentEvents)} and id = ${param("id")}`),
);
const insertEvent = statement((q) =>
  q
    .insert(paymentEvents)
    .values({ ...params("tenantId", "id", "type", "object", "isLive"), createdAt: param("now") })
    .onConflictDoNothing(),
);
const select = (condition: "session_id" | "intent_id") =>
  statement((q) =>
    q
      .select()
      .from(checkouts)
      .where(sql`${ofStore(checkouts)} and ${sql.raw(condition)} = ${param("value")}`),
  );
const selectBySession = select("session_id");
const selectByIntent = select("intent_id");

/** Before the secrets are read, so that other calls cost little. */
const signatureForm = /^t=\d{1,12},.{1,2000}$/;

/**
 * Receives a call of the provider, whose signature is its credential. Returns once all that it reports is committed.
 * @throws notAuthenticated without a valid signature; unavailable if the provider cannot be read, which then repeats
 * the call.
 */
export async function receiveEvent(ctx: Ctx, body: Uint8Array): Promise<void> {
  const signature = ctx.signature ?? "";
  const account = signatureForm.test(signature) ? await findAccount(ctx) : undefined;
  const { verify } = providers.stripe.account;
  const secrets = account ? secretsOf(ctx, account) : [];
  const event = secrets.length > 0 ? await verify({ body, signature, now: ctx.now() }, secrets) : null;
  if (!account || !event) throw notAuthenticated("The signature is missing, wrong or too old.");
  await handleEvent(ctx, account, event);
}

function secretsOf({ vault, tenant, now }: Ctx, { secret, olderSecret, olderUntil }: Account): string[] {
  const isValid = olderUntil !== null && Date.parse(olderUntil) > now();
  const sealed = [secret, isValid ? olderSecret : null].filter((text) => text !== null);
  return sealed.flatMap((text) => vault.open("payment", placeOf(tenant.id, "secret"), text) ?? []);
}

/** Reads the page of an event, unless the event is known. Errors: unavailable, wrongState. */
export async function handleEvent(ctx: Ctx, account: Account, event: ProviderEvent): Promise<void> {
  const values = { tenantId: ctx.tenant.id, ...event, isLive: event.isLive ? 1 : 0, now: toTimestamp(ctx.now()) };
  if (await get(ctx.db, selectEvent, values)) return;
  const row = event.isLive === account.isLive ? await findCheckoutOf(ctx, account, event) : undefined;
  if (row) await reconcile(ctx, row);
  await run(ctx.db, insertEvent, values);
}

async function findCheckoutOf(ctx: Ctx, account: Account, { sessionId, intentId }: ProviderEvent) {
  const tenantId = ctx.tenant.id;
  const known = intentId === null ? undefined : await get(ctx.db, selectByIntent, { tenantId, value: intentId });
  if (known) return known;
  // The page's own event may come later.
  const value = sessionId ?? (intentId && (await openProvider(ctx, account).findSession(intentId)));
  return value === null ? undefined : get(ctx.db, selectBySession, { tenantId, value });
}

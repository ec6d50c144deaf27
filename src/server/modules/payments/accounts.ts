import { and, eq } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, ofStore, statement } from "../../db/statement.ts";
import { wrongState } from "../../errors.ts";
import { accountFault, type Provider, type ProviderKind } from "./provider.ts";
import { stripe } from "./stripe/provider.ts";
import { paymentAccounts } from "./table.ts";

/** The providers by name. `manual`, for bank transfers and cash, is not listed, because it needs no code. */
export const providers = { stripe } satisfies Record<string, ProviderKind>;

/** SQL condition: the row of the store's account. Stripe is the only provider with accounts so far. */
export const isAccount = and(ofStore(paymentAccounts), eq(paymentAccounts.provider, "stripe"));
const selectAccount = statement((q) => q.select().from(paymentAccounts).where(isAccount));

export type Account = NonNullable<(typeof selectAccount)["row"]>;

export const placeOf = (tenantId: string, field: "key" | "secret") => `${tenantId}:stripe:${field}`;

export const findAccount = ({ db, tenant }: Ctx): Promise<Account | undefined> =>
  get(db, selectAccount, { tenantId: tenant.id });

/** Returns the account of the store. Errors: wrongState for a store without an account. */
export async function requireAccount(ctx: Ctx): Promise<Account> {
  const account = await findAccount(ctx);
  if (account) return account;
  const remedy = `Connect one: bodega payment connect stripe -n ${ctx.tenant.namespace} --key-file <file>`;
  throw wrongState("The store takes no card payments.", { remedy });
}

/** Returns the decrypted key of an account. Errors: unavailable if another secret key encrypted it. */
export function keyOf({ vault, tenant }: Ctx, { key }: Account): string {
  const opened = vault.open("payment", placeOf(tenant.id, "key"), key);
  if (opened !== null) return opened;
  throw accountFault("The key of the payment provider was encrypted with another secret key.");
}

/** Opens the provider of the store. Errors: wrongState for a store without an account; those of `keyOf`. */
export async function openProvider(ctx: Ctx): Promise<Provider> {
  const account = await requireAccount(ctx);
  return providers[account.provider].open(keyOf(ctx, account), ctx.payments);
}

import { and, eq } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, ofStore, statement } from "../../db/statement.ts";
import { wrongState } from "../../errors.ts";
import { accountFault, type CallStripe, openStripe } from "./stripe/client.ts";
import { paymentAccounts } from "./table.ts";

/** SQL for the row of the store's account at Stripe, the only provider with accounts so far. */
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

/** Opens Stripe with the store's key. Errors: wrongState without an account; unavailable if the key is unreadable. */
export async function openAccount(ctx: Ctx, known?: Account): Promise<CallStripe> {
  const { key } = known ?? (await requireAccount(ctx));
  const opened = ctx.vault.open("payment", placeOf(ctx.tenant.id, "key"), key);
  if (opened !== null) return openStripe(opened, ctx.payments);
  throw accountFault("The key of the payment provider was encrypted with another secret key.");
}

import type { Ctx } from "../../context.ts";
import { get, ofStore, statement } from "../../db/statement.ts";
import { wrongState } from "../../errors.ts";
import { accountFault, type CallStripe, openStripe } from "./stripe/client.ts";
import { paymentAccounts } from "./table.ts";

const selectAccount = statement((q) => q.select().from(paymentAccounts).where(ofStore(paymentAccounts)));

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

/** Returns a function that makes calls to an account. Errors: unavailable if another secret key encrypted its key. */
export function openAccount({ vault, tenant, payments }: Ctx, { key }: Account): CallStripe {
  const opened = vault.open("payment", placeOf(tenant.id, "key"), key);
  if (opened !== null) return openStripe(opened, payments);
  throw accountFault("The key of the payment provider was encrypted with another secret key.");
}

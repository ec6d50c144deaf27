import { and, eq } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { jsonOf, pick } from "../../db/selection.ts";
import { get, ofStore, statement } from "../../db/statement.ts";
import { wrongState } from "../../errors.ts";
import type { Provider } from "./provider.ts";
import { providers } from "./providers.ts";
import { paymentAccounts } from "./table.ts";

/** The account at the only provider so far that has accounts. */
export const isAccount = and(ofStore(paymentAccounts), eq(paymentAccounts.provider, "stripe"));
const selectAccount = statement((q) =>
  q
    .select({
      ...pick(paymentAccounts, "account", "isLive", "key", "keyEnd", "endpointId", "secret"),
      ...pick(paymentAccounts, "olderSecret", "olderUntil", "createdAt"),
      methods: jsonOf<string[]>(paymentAccounts.methods),
    })
    .from(paymentAccounts)
    .where(isAccount),
);

export type Account = NonNullable<(typeof selectAccount)["row"]> & { provider: "stripe" };

export const placeOf = (tenantId: string, field: "key" | "secret") => `${tenantId}:stripe:${field}`;

export async function findAccount({ db, tenant }: Pick<Ctx, "db" | "tenant">): Promise<Account | undefined> {
  const row = await get(db, selectAccount, { tenantId: tenant.id });
  return row && { ...row, provider: "stripe" };
}

/** Errors: wrongState for a store without a provider. */
export async function requireAccount(ctx: Pick<Ctx, "db" | "tenant">): Promise<Account> {
  const account = await findAccount(ctx);
  if (account) return account;
  const remedy = `Connect one: bodega payment connect stripe -n ${ctx.tenant.namespace}`;
  throw wrongState("The store takes no card payments.", { remedy });
}

/** Errors: wrongState if the key was encrypted with another secret key. */
export function keyOf({ vault, tenant }: Ctx, { key }: Pick<Account, "key">): string {
  const opened = vault.open("payment", placeOf(tenant.id, "key"), key);
  if (opened !== null) return opened;
  const remedy = `Connect it again: bodega payment connect stripe -n ${tenant.namespace}`;
  throw wrongState("The key of the payment provider was encrypted with another secret key.", { remedy });
}

export function openProvider(ctx: Ctx, account: Account): Provider {
  return providers[account.provider].account.open(keyOf(ctx, account), ctx.payments ?? {});
}

/** Errors: wrongState for a store without a provider. */
export async function requireProvider(ctx: Ctx): Promise<Provider> {
  return openProvider(ctx, await requireAccount(ctx));
}

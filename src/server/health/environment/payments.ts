import { eq, sql } from "drizzle-orm";
import { paymentOptions } from "../../config/config.ts";
import type { Ctx, Tenant } from "../../context.ts";
import { all, statement } from "../../db/statement.ts";
import { isAccountFault } from "../../modules/payments/provider.ts";
import { checkAccount, findUnbooked, registerAgain } from "../../modules/payments/stripe/connect.ts";
import { paymentAccounts } from "../../modules/payments/table.ts";
import { tenants, workFields } from "../../modules/tenants/table.ts";
import { type Finding, finding, reasonOf, type StoreSubject } from "../finding.ts";
import { inScope } from "../records/check.ts";

const selectAccounts = statement((q) =>
  q
    .select(workFields)
    .from(paymentAccounts)
    .innerJoin(tenants, eq(tenants.id, paymentAccounts.tenantId))
    .where(sql`${tenants.status} = 'active' and ${inScope(paymentAccounts.tenantId)}`)
    .orderBy(tenants.namespace),
);

/** Compares the payment accounts of stores with the accounts at the provider. */
export async function* checkPayments(subject: StoreSubject): AsyncGenerator<Finding> {
  const { ctx, tenant, config, timeoutMs } = subject;
  // A call has two retries. With half the time for each attempt, it ends before this check's own time limit.
  const payments = { ...paymentOptions(config), timeoutMs: timeoutMs / 2 };
  const describe = async (store: Tenant) => {
    const found = await describeAccount({ ...ctx, tenant: store, payments }, subject);
    return found.map((one) => ({ ...one, namespace: store.namespace }));
  };
  const stores = await all(ctx.db, selectAccounts, { tenantId: tenant?.id ?? null });
  yield* (await Promise.all(stores.map(describe))).flat();
}

async function describeAccount(ctx: Ctx, { command }: StoreSubject): Promise<Finding[]> {
  const { namespace } = ctx.tenant;
  const warn = (message: string, remedy: string) =>
    finding("warning", namespace, `Card payments of store ${namespace}${message}`, remedy);
  const connect = command(`payment connect stripe -n ${namespace} --key-file stripe.key`);
  const unpaid = (number: number) => `Order ${number} of store ${namespace} was paid at Stripe, and is not paid here.`;
  const read = (number: number) => command(`order pay -n ${namespace} ${number} --check`);
  try {
    const { problems } = await checkAccount(ctx);
    const unbooked = await findUnbooked(ctx);
    return [
      ...problems.map((problem) => warn(`: ${problem}`, `${registerAgain} ${connect}`)),
      ...unbooked.map(({ number }) => finding("error", `${namespace} ${number}`, unpaid(number), read(number))),
    ];
  } catch (error) {
    const isUnusable = isAccountFault(error);
    const again = isUnusable ? connect : command(`payment check -n ${namespace}`);
    const found = warn(` cannot be checked: ${reasonOf(error)}`, again);
    return [{ ...found, severity: isUnusable ? "error" : "warning" }];
  }
}

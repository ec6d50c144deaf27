import { and, eq, isNotNull } from "drizzle-orm";
import type { Config } from "../config/config.ts";
import type { SystemCtx } from "../context.ts";
import { pick } from "../db/selection.ts";
import { all, param, run, statement } from "../db/statement.ts";
import { inTransaction } from "../db/transaction.ts";
import { recordAudit } from "../modules/audit/service.ts";
import { mailOutbox } from "../modules/mail/table.ts";
import { mailCodes } from "../modules/mail-codes/table.ts";
import { pushRegistrations, vapidKeys } from "../modules/notifications/table.ts";
import { paymentAccounts } from "../modules/payments/table.ts";
import { tenants } from "../modules/tenants/table.ts";
import { twoFactor } from "../modules/two-factor/table.ts";
import { users } from "../modules/users/table.ts";
import { webhooks } from "../modules/webhooks/table.ts";
import { adoptSecret } from "../security/secret-key.ts";
import { toTimestamp } from "../values/stamps.ts";

const lostKey = "encrypted with a lost key";
const dropped = { status: "dropped", sealed: null, lastError: lostKey, finishedAt: param("now") } as const;
const dropMail = statement((q) => q.update(mailOutbox).set(dropped).where(isNotNull(mailOutbox.sealed)));
const removeCodes = statement((q) => q.delete(mailCodes));
const removeRegistrations = statement((q) => q.delete(pushRegistrations));
// The next start creates new VAPID keys. Browser subscriptions for the old keys no longer work.
const removeVapidKeys = statement((q) => q.delete(vapidKeys));
const { namespace } = tenants;
const selectTwoFactor = statement((q) =>
  q
    .select({ namespace, user_id: users.id, email: users.email })
    .from(twoFactor)
    .innerJoin(users, and(eq(users.id, twoFactor.userId), eq(users.tenantId, twoFactor.tenantId)))
    .innerJoin(tenants, eq(tenants.id, twoFactor.tenantId))
    .where(isNotNull(twoFactor.confirmedAt))
    .orderBy(namespace, users.emailKey),
);
const { id, url } = webhooks;
const isOfStore = eq(tenants.id, webhooks.tenantId);
const selectWebhooks = statement((q) =>
  q.select({ namespace, webhook_id: id, url }).from(webhooks).innerJoin(tenants, isOfStore).orderBy(namespace, id),
);

const connected = { namespace, ...pick(paymentAccounts, "provider", "account") };
const isConnected = eq(tenants.id, paymentAccounts.tenantId);
const selectAccounts = statement((q) =>
  q.select(connected).from(paymentAccounts).innerJoin(tenants, isConnected).orderBy(namespace),
);

/**
 * Makes the present secret key the key of the database after the old key was lost, and removes data that only the old
 * key can decrypt. Second factors stay, although they no longer work: if they were removed, a password would suffice to
 * sign in. No server may be running.
 * @returns the counts of removed rows, the users whose second factor must be reset, the webhooks that need a new secret,
 * and the payment accounts that must be connected again. `rekeyed` is false if the database already used this key.
 */
export function rekeyDatabase(ctx: SystemCtx, config: Pick<Config, "secret" | "dataDir">) {
  return inTransaction(ctx, async (tx) => {
    const rekeyed = await adoptSecret(tx.db, config);
    const nothing = { mail_dropped: 0, reset_codes_dropped: 0, registrations_dropped: 0 };
    if (!rekeyed) return { rekeyed, ...nothing, two_factor_users: [], webhooks: [], payment_accounts: [] };
    await run(tx.db, removeVapidKeys);
    const report = {
      rekeyed,
      mail_dropped: await run(tx.db, dropMail, { now: toTimestamp(ctx.now()) }),
      reset_codes_dropped: await run(tx.db, removeCodes),
      registrations_dropped: await run(tx.db, removeRegistrations),
      two_factor_users: await all(tx.db, selectTwoFactor),
      webhooks: await all(tx.db, selectWebhooks),
      payment_accounts: await all(tx.db, selectAccounts),
    };
    const { rekeyed: _, ...removed } = report;
    const counts = Object.entries(removed).map(([name, one]) => [name, typeof one === "number" ? one : one.length]);
    await recordAudit(tx, { event: "database.rekeyed", details: Object.fromEntries(counts) });
    return report;
  });
}

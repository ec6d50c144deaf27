import { sql } from "drizzle-orm";
import type { Config } from "../config/config.ts";
import type { SystemCtx } from "../context.ts";
import { all, param, run, statement } from "../db/statement.ts";
import { inTransaction } from "../db/transaction.ts";
import { recordAudit } from "../modules/audit/service.ts";
import { mailOutbox } from "../modules/mail/table.ts";
import { mailCodes } from "../modules/mail-codes/table.ts";
import { pushRegistrations, vapidKeys } from "../modules/notifications/table.ts";
import { tenants } from "../modules/tenants/table.ts";
import { twoFactor } from "../modules/two-factor/table.ts";
import { users } from "../modules/users/table.ts";
import { webhooks } from "../modules/webhooks/table.ts";
import { adoptSecret } from "../security/secret-key.ts";
import { toTimestamp } from "../values/timestamp.ts";

const dropMail = statement(sql`
  update ${mailOutbox} set status = 'dropped', sealed = null, last_error = 'sealed with a lost key',
    updated_at = ${param("now")}
  where sealed is not null`);
const removeCodes = statement(sql`delete from ${mailCodes}`);
const removeRegistrations = statement(sql`delete from ${pushRegistrations}`);
// The next start creates new ones; existing browser subscriptions no longer work.
const removeVapidKeys = statement(sql`delete from ${vapidKeys}`);
const selectTwoFactor = statement<Record<"namespace" | "user_id" | "email", string>>(sql`
  select t.namespace, u.id as user_id, u.email from ${twoFactor} f
  join ${users} u on u.id = f.user_id and u.tenant_id = f.tenant_id join ${tenants} t on t.id = f.tenant_id
  where f.confirmed_at is not null order by t.namespace, u.email_key`);
const selectWebhooks = statement<Record<"namespace" | "webhook_id" | "url", string>>(sql`
  select t.namespace, w.id as webhook_id, w.url from ${webhooks} w join ${tenants} t on t.id = w.tenant_id
  order by t.namespace, w.id`);

/** The result of a change of the server's key. */
export type RekeyReport = Awaited<ReturnType<typeof rekeyDatabase>>;

/**
 * Ties the database to the present key after the old one was lost, and removes what only the old one could decrypt. Second
 * factors stay although they no longer work: removing them would let a password alone sign in. No server may be running.
 * @returns what was dropped, the users who cannot sign in until their second factor is reset, and the webhooks that need a
 * new secret; `rekeyed` is false when the database already used this key, and nothing was changed.
 */
export function rekeyDatabase(ctx: SystemCtx, config: Pick<Config, "secret" | "dataDir">) {
  return inTransaction(ctx, async (tx) => {
    const rekeyed = await adoptSecret(tx.db, config);
    const nothing = { mail_dropped: 0, reset_codes_dropped: 0, registrations_dropped: 0 };
    if (!rekeyed) return { rekeyed, ...nothing, two_factor_users: [], webhooks: [] };
    await run(tx.db, removeVapidKeys);
    const report = {
      rekeyed,
      mail_dropped: await run(tx.db, dropMail, { now: toTimestamp(ctx.now()) }),
      reset_codes_dropped: await run(tx.db, removeCodes),
      registrations_dropped: await run(tx.db, removeRegistrations),
      two_factor_users: await all(tx.db, selectTwoFactor),
      webhooks: await all(tx.db, selectWebhooks),
    };
    const { mail_dropped, reset_codes_dropped, registrations_dropped, two_factor_users } = report;
    const counts = { two_factor_users: two_factor_users.length, webhooks: report.webhooks.length };
    const details = { mail_dropped, reset_codes_dropped, registrations_dropped, ...counts };
    await recordAudit(tx, { event: "database.rekeyed", details });
    return report;
  });
}

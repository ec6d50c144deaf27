import { eq } from "drizzle-orm";
import { runEvery } from "../concurrency/run-every.ts";
import { all, statement } from "../db/statement.ts";
import { inTransaction } from "../db/transaction.ts";
import { checkBackups, checkReplication, checkRestoreTest } from "../health/environment/backups.ts";
import { checkDisk } from "../health/environment/data-dir.ts";
import type { Finding, Findings, StoreSubject } from "../health/finding.ts";
import type { LogWriter } from "../logging/logger.ts";
import { listStaffAddresses, mailStore } from "../modules/mail/store-mail.ts";
import { tenants, workFields } from "../modules/tenants/table.ts";
import { toTimestamp } from "../values/stamps.ts";

const everyMs = 5 * 60_000;
const checks: Record<string, (subject: StoreSubject) => Findings> = {
  ...{ backup: checkBackups, replica: checkReplication, restore: checkRestoreTest, disk: checkDisk },
};
const selectStores = statement((q) =>
  q.select(workFields).from(tenants).where(eq(tenants.status, "active")).orderBy(tenants.namespace),
);

/** Mails errors of backups, replica and disk to the stores, so that somebody hears of them who reads no log. */
export function startAlerts(subject: StoreSubject, notice: LogWriter["notice"]) {
  return runEvery(everyMs, createAlerts(subject), () =>
    notice("warn", "backups, replica and disk could not be checked"),
  );
}

/** Returns a function that mails errors which two calls in a row find. Each check is mailed once a day. */
export function createAlerts(subject: StoreSubject): () => Promise<void> {
  let before = new Set<string>();
  return async () => {
    const found = new Map<string, Finding>();
    for (const [check, list] of Object.entries(checks)) {
      const first = (await Array.fromAsync(list(subject))).find(({ severity }) => severity === "error");
      if (first) found.set(check, first);
    }
    for (const [check, problem] of found) if (before.has(check)) await mailProblem(subject, check, problem);
    before = new Set(found.keys());
  };
}

/** An address that several stores name gets one mail. */
async function mailProblem({ ctx }: StoreSubject, check: string, { message, remedy }: Finding): Promise<void> {
  const mail = { kind: "server_alert", cause: `${check}:${toTimestamp(ctx.now()).slice(0, 10)}` } as const;
  const told = new Set<string>();
  for (const tenant of await all(ctx.db, selectStores)) {
    const others = (await listStaffAddresses(ctx.db, tenant.id)).filter(({ email }) => !told.has(email));
    for (const { email } of others) told.add(email);
    const values = { message, remedy: remedy ?? "" };
    await inTransaction({ ...ctx, tenant }, (tx) => mailStore(tx, { ...mail, values }, others));
  }
}

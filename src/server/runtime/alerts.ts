import { eq } from "drizzle-orm";
import { runEvery } from "../concurrency/run-every.ts";
import { all, statement } from "../db/statement.ts";
import { inTransaction } from "../db/transaction.ts";
import { checkBackups, checkReplication, checkRestoreTest } from "../health/environment/backups.ts";
import { checkDisk } from "../health/environment/data-dir.ts";
import { checkTls } from "../health/environment/server.ts";
import type { Finding, Findings, StoreSubject } from "../health/finding.ts";
import type { LogWriter } from "../logging/logger.ts";
import { listStaffAddresses, mailStore } from "../modules/mail/store-mail.ts";
import { tenants, workFields } from "../modules/tenants/table.ts";
import { toTimestamp } from "../values/stamps.ts";

const everyMs = 5 * 60_000;
const checks: Record<string, (subject: StoreSubject) => Findings> = {
  ...{ backup: checkBackups, replica: checkReplication, restore: checkRestoreTest, disk: checkDisk },
  certificate: checkTls,
};
const selectStores = statement((q) =>
  q.select(workFields).from(tenants).where(eq(tenants.status, "active")).orderBy(tenants.namespace),
);

/** Checks backups, replica, disk and certificate every five minutes. Logs errors, and mails them to staff. */
export function startAlerts(subject: StoreSubject, notice: LogWriter["notice"]) {
  return runEvery(everyMs, createAlerts(subject, notice), () =>
    notice("warn", "errors of backups, replica, disk and certificate could not be checked or mailed"),
  );
}

/** Returns a function that runs the checks. An error is logged at once; after the next check, it is mailed once a day. */
export function createAlerts(subject: StoreSubject, notice: LogWriter["notice"]): () => Promise<void> {
  let before = new Set<string>();
  return async () => {
    const found = new Map<string, Finding>();
    for (const [check, list] of Object.entries(checks)) {
      const first = (await Array.fromAsync(list(subject))).find(({ severity }) => severity === "error");
      if (first) found.set(check, first);
    }
    for (const [check, problem] of found) {
      if (before.has(check)) await mailProblem(subject, check, problem);
      else notice("error", problem.message);
    }
    before = new Set(found.keys());
  };
}

/** Mails a problem to the staff of all active stores. An address that several stores name gets one mail. */
async function mailProblem({ ctx }: StoreSubject, check: string, { message, remedy }: Finding): Promise<void> {
  const cause = `${check}:${toTimestamp(ctx.now()).slice(0, 10)}`;
  const mail = { kind: "server_alert", cause, values: { message, remedy: remedy ?? "" } } as const;
  const known = new Set<string>();
  for (const tenant of await all(ctx.db, selectStores)) {
    const addresses = (await listStaffAddresses(ctx.db, tenant.id)).filter(({ email }) => !known.has(email));
    for (const { email } of addresses) known.add(email);
    await inTransaction({ ...ctx, tenant }, (tx) => mailStore(tx, mail, addresses));
  }
}

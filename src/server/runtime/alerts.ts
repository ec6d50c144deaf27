import { runEvery } from "../concurrency/run-every.ts";
import { checkBackups, checkReplication, checkRestoreTest } from "../health/environment/backups.ts";
import { checkDisk } from "../health/environment/data-dir.ts";
import { checkTls } from "../health/environment/server.ts";
import type { Finding, Findings, StoreSubject } from "../health/finding.ts";
import type { LogWriter } from "../logging/logger.ts";
import { mailServerAlert } from "../modules/mail/server-alert.ts";
import { toTimestamp } from "../values/stamps.ts";

const everyMs = 5 * 60_000;
const checks: Record<string, (subject: StoreSubject) => Findings> = {
  ...{ backup: checkBackups, replica: checkReplication, restore: checkRestoreTest, disk: checkDisk },
  certificate: checkTls,
};

/** Mails errors of backups, replica, disk and certificate to the stores, so that somebody hears of them who reads no log. */
export function startAlerts(subject: StoreSubject, notice: LogWriter["notice"]) {
  return runEvery(everyMs, createAlerts(subject), () =>
    notice("warn", "backups, replica, disk and certificate could not be checked"),
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
    const today = toTimestamp(subject.ctx.now()).slice(0, 10);
    for (const [check, { message, remedy }] of found) {
      if (before.has(check))
        await mailServerAlert(subject.ctx, { cause: `${check}:${today}`, message, remedy: remedy ?? "" });
    }
    before = new Set(found.keys());
  };
}

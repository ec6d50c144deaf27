import { uptime } from "node:os";
import { runEvery } from "../concurrency/run-every.ts";
import type { MediaStore } from "../context.ts";
import type { Database } from "../db/session.ts";
import { get } from "../db/statement.ts";
import { selectNewest } from "../health/environment/server.ts";
import type { LogWriter } from "../logging/logger.ts";
import { eraseOldAddresses } from "../modules/audit/service.ts";
import { purgeReplies } from "../modules/idempotency/service.ts";
import { expireMail, purgeMail } from "../modules/mail/outbox.ts";
import { purgeMailCodes } from "../modules/mail-codes/service.ts";
import { purgePictures, purgeTrash } from "../modules/media/service.ts";
import { purgeMessages, purgePushes, purgeRegistrations } from "../modules/notifications/sending/queue.ts";
import { expireDueOrders } from "../modules/orders/expiry.ts";
import { purgePersons, purgeWithdrawals } from "../modules/orders/guests/persons.ts";
import { purgePaymentEvents } from "../modules/payments/jobs.ts";
import { purgePublicHits } from "../modules/rate-limits/public-writes.ts";
import { purgeRateLimits } from "../modules/rate-limits/service.ts";
import { expireDuePoints } from "../modules/rewards/ledger.ts";
import { purgeSignUps } from "../modules/sign-up/service.ts";
import { purgeTokens } from "../modules/tokens/service.ts";
import { purgeViewDedupKeys } from "../modules/views/view-buffer.ts";
import { purgeDeliveries, purgeEvents } from "../modules/webhooks/deliveries.ts";
import type { Vault } from "../security/vault.ts";
import { formatDuration } from "../values/units.ts";

/** How often orders expire. The interval is short, because other buyers wait for the reserved stock. */
const expireMs = 10_000;
const roundsPerPurge = 6;
const maxSkewMs = 60_000;

interface PurgeCtx {
  db: Database;
  now: () => number;
  media: MediaStore | undefined;
  vault: Vault;
}

type PurgeJob = (ctx: PurgeCtx) => Promise<number>;

/** Each call handles one batch and returns its size. Calls are repeated until there is nothing left to do. */
const purgeJobs: PurgeJob[] = [
  expireDuePoints,
  purgePictures,
  purgeTrash,
  purgeReplies,
  purgeRateLimits,
  purgePublicHits,
  purgeTokens,
  purgeMailCodes,
  purgeSignUps,
  expireMail,
  purgeMail,
  purgeDeliveries,
  purgePushes,
  purgeMessages,
  purgeRegistrations,
  purgeEvents,
  purgeViewDedupKeys,
  purgePaymentEvents,
  purgePersons,
  purgeWithdrawals,
];

/** Expires orders every ten seconds, and runs all other jobs every minute. If a job fails, the others still run. */
export function startPurging(ctx: PurgeCtx, keepAddressesMs: number, notice: LogWriter["notice"]) {
  let round = 0;
  const eraseAddresses: PurgeJob = (ctx) => eraseOldAddresses(ctx, keepAddressesMs);
  const isClockRight = createClockCheck(ctx.db, ctx.now, () => uptime() * 1000, notice);
  const reportFailure = () => notice("warn", "orders and points could not expire, or old rows could not be deleted");
  const purgeAll = async (isStopping: () => boolean) => {
    if (!(await isClockRight())) return;
    let hasFailed = false;
    round++;
    const others = round % roundsPerPurge === 0 ? [...purgeJobs, eraseAddresses] : [];
    for (const purge of [expireDueOrders, ...others]) {
      try {
        while (!isStopping() && (await purge(ctx)) > 0);
      } catch {
        hasFailed = true;
      }
    }
    if (hasFailed) reportFailure();
  };
  return runEvery(expireMs, purgeAll, reportFailure);
}

/**
 * Returns a function that says whether the clock can be trusted. With a wrong clock, jobs would delete too much, so
 * they do not run while the clock is behind the newest row, or directly after it has jumped.
 */
export function createClockCheck(
  db: Database,
  now: () => number,
  monotonic: () => number,
  notice: LogWriter["notice"],
) {
  let offset = now() - monotonic();
  let reported: string | undefined;
  return async (): Promise<boolean> => {
    const jump = now() - monotonic() - offset;
    offset += jump;
    const { at: newest } = (await get(db, selectNewest)) ?? {};
    const isBehind = newest && Date.parse(newest) - now() > maxSkewMs;
    const jumped = Math.abs(jump) > maxSkewMs ? `jumped by ${formatDuration(jump)}` : undefined;
    const fault = jumped ?? (isBehind ? `is behind the newest data (${newest})` : undefined);
    if (fault !== undefined && fault !== reported) {
      notice("warn", `the clock ${fault}; nothing expires and no old rows are deleted until the next check`);
    }
    reported = fault;
    return fault === undefined;
  };
}

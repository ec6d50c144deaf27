import type { Config } from "../config/config.ts";
import type { Environment } from "../config/environment.ts";
import { startCheckpointer } from "../db/local/checkpoint.ts";
import type { Database } from "../db/session.ts";
import { type AppError, unavailable } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { purgeRejections } from "../modules/app-keys/rejections.ts";
import { purgeEvents } from "../modules/events/purge.ts";
import { sweepReplies } from "../modules/idempotency/service.ts";
import { expireMail, purgeMail } from "../modules/mail/queue.ts";
import { startMailDelivery } from "../modules/mail/start-delivery.ts";
import { purgeMessages, purgePushes } from "../modules/notifications/purge.ts";
import { startPushDelivery } from "../modules/notifications/start-delivery.ts";
import { expireDueOrders } from "../modules/orders/expiry.ts";
import { purgeResetCodes } from "../modules/password-reset/codes.ts";
import { indexPendingProducts } from "../modules/products/list/search.ts";
import { sweepRateLimits } from "../modules/rate-limits/service.ts";
import { sweepPublicHits } from "../modules/rate-limits/shared-hits.ts";
import { expireDuePoints } from "../modules/rewards/expiry.ts";
import { purgeTokens } from "../modules/tokens/service.ts";
import { sweepViewMarks } from "../modules/views/sweep.ts";
import { startWebhookDelivery } from "../modules/webhooks/delivery.ts";
import { purgeDeliveries } from "../modules/webhooks/queue.ts";
import type { Vault } from "../security/vault.ts";

const sweepMs = 60_000;
const watchMs = 1000;
/** What one sweep removes at most. */
const portion = 1000;

/**
 * What one process does for all: empties the log of the database, backs it up, sends mail, webhooks and push notifications,
 * sweeps rows that have had their time, and sees that the file is still there. `lost` settles when it is not: going on would acknowledge writes into nothing.
 */
export async function startUpkeep(
  config: Config,
  db: Database,
  vault: Vault | null,
  log: LogWriter,
  self: { command: readonly string[]; env: Environment },
): Promise<{ stop(): Promise<void>; lost: Promise<AppError> }> {
  const mail = vault && (await startMailDelivery({ ...config, db, vault, now: Date.now, notice: log.notice }));
  const webhooks = vault && startWebhookDelivery({ db, vault, now: Date.now, notice: log.notice });
  const pushes = vault && startPushDelivery(config, { db, vault, now: Date.now, notice: log.notice });
  const checkpointer = startCheckpointer(db);
  const { backupEveryMs } = config;
  // Loaded where it is wanted: most servers need none of it in memory.
  const backups =
    backupEveryMs === undefined
      ? undefined
      : (await import("../backup/schedule.ts")).startBackups(
          { ...config, backupEveryMs },
          { ...self, notice: log.notice },
        );
  const lost = Promise.withResolvers<AppError>();
  const watch = setInterval(() => {
    if (db.isInPlace()) return;
    lost.resolve(
      unavailable(
        `The database in ${config.dataDir} was removed or replaced. Its log is kept beside it as bodega.db-wal.orphaned-…`,
      ),
    );
  }, watchMs);
  let isSweeping: Promise<void> | undefined;
  let isStopping = false;
  const begin = (work: typeof sweepAll, failure: string) => {
    isSweeping ??= work(db, () => isStopping)
      .catch(() => log.notice("warn", failure))
      .finally(() => {
        isSweeping = undefined;
      });
  };
  // Products of an earlier schema are found as soon as that is done, and served meanwhile.
  begin(indexProducts, "products could not be indexed for the search");
  const sweep = setInterval(
    () => begin(sweepAll, "unpaid orders, old points and other rows that have had their time could not be swept"),
    sweepMs,
  );
  return {
    lost: lost.promise,
    stop: async () => {
      isStopping = true;
      clearInterval(sweep);
      clearInterval(watch);
      await Promise.all([isSweeping, backups?.stop()]);
      await Promise.all([mail?.stop(), webhooks?.stop(), pushes?.stop()]);
      await checkpointer.stop();
    },
  };
}

/** Each ends or removes at most a portion of what has had its time, and is repeated for as long as that is a whole one. */
const sweeps: { sweep: (ctx: { db: Database; now: () => number }) => Promise<number>; whole: number }[] = [
  { sweep: expireDueOrders, whole: 1 },
  { sweep: expireDuePoints, whole: 1 },
  ...[
    sweepRateLimits,
    sweepPublicHits,
    purgeTokens,
    purgeResetCodes,
    sweepReplies,
    expireMail,
    purgeMail,
    purgeDeliveries,
    purgePushes,
    purgeMessages,
    purgeEvents,
    sweepViewMarks,
    purgeRejections,
  ].map((sweep) => ({ sweep, whole: portion })),
];

/** Ends and removes what has had its time, with room for other writers between; one that fails keeps no other back. */
async function sweepAll(db: Database, isStopping: () => boolean): Promise<void> {
  const failures: unknown[] = [];
  for (const { sweep, whole } of sweeps) {
    try {
      while (!isStopping() && (await sweep({ db, now: Date.now })) >= whole);
    } catch (error) {
      failures.push(error);
    }
  }
  await indexProducts(db, isStopping);
  if (failures.length > 0) throw failures[0];
}

async function indexProducts(db: Database, isStopping: () => boolean): Promise<void> {
  while (!isStopping() && (await indexPendingProducts({ db })) > 0);
}

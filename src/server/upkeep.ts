import type { Config } from "./config.ts";
import { startCheckpointer } from "./db/checkpoint.ts";
import type { Database } from "./db/session.ts";
import { AppError } from "./errors.ts";
import type { LogWriter } from "./log-writer.ts";
import { sweepEvents } from "./modules/events/sweep.ts";
import { sweepReplies } from "./modules/idempotency/service.ts";
import { expireMail, sweepMail } from "./modules/mail/due.ts";
import { startMailUpkeep } from "./modules/mail/upkeep.ts";
import { expireDueOrders } from "./modules/orders/expiry.ts";
import { sweepResetCodes } from "./modules/password-reset/codes.ts";
import { indexPendingProducts } from "./modules/products/search.ts";
import { sweepRateLimits } from "./modules/rate-limits/service.ts";
import { sweepTokens } from "./modules/tokens/service.ts";
import { sweepDeliveries } from "./modules/webhooks/due.ts";
import { startWebhookUpkeep } from "./modules/webhooks/upkeep.ts";
import type { Vault } from "./vault.ts";

const sweepMs = 60_000;
const watchMs = 1000;
/** What one sweep removes at most. */
const portion = 1000;

/**
 * What one process does for all: empties the log of the database, sends mail and webhooks, sweeps rows that have had their time, and
 * sees that the file is still there. `lost` settles when it is not: going on would acknowledge writes into nothing.
 */
export async function startUpkeep(
  config: Config,
  db: Database,
  vault: Vault | null,
  log: LogWriter,
): Promise<{ stop(): Promise<void>; lost: Promise<AppError> }> {
  const mail = vault && (await startMailUpkeep({ ...config, db, vault, now: Date.now, notice: log.notice }));
  const webhooks = vault && startWebhookUpkeep({ db, vault, now: Date.now, notice: log.notice });
  const checkpointer = startCheckpointer(db);
  const lost = Promise.withResolvers<AppError>();
  const watch = setInterval(() => {
    if (db.isInPlace()) return;
    lost.resolve(
      new AppError(
        5001,
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
  const sweep = setInterval(() => begin(sweepAll, "old limits, tokens, codes and mails could not be swept"), sweepMs);
  return {
    lost: lost.promise,
    stop: async () => {
      isStopping = true;
      clearInterval(sweep);
      clearInterval(watch);
      await isSweeping;
      await Promise.all([mail?.stop(), webhooks?.stop()]);
      await checkpointer.stop();
    },
  };
}

/** Ends and removes what has had its time, portion by portion, with room for other writers between. */
async function sweepAll(db: Database, isStopping: () => boolean): Promise<void> {
  while (!isStopping() && (await expireDueOrders({ db, now: Date.now })) > 0);
  const sweeps = [
    sweepRateLimits,
    sweepTokens,
    sweepResetCodes,
    sweepReplies,
    expireMail,
    sweepMail,
    sweepDeliveries,
    sweepEvents,
  ];
  for (const sweep of sweeps) {
    while (!isStopping() && (await sweep({ db, now: Date.now })) >= portion);
  }
  await indexProducts(db, isStopping);
}

async function indexProducts(db: Database, isStopping: () => boolean): Promise<void> {
  while (!isStopping() && (await indexPendingProducts({ db })) > 0);
}

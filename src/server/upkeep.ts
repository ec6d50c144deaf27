import type { Config } from "./config.ts";
import { startCheckpointer } from "./db/checkpoint.ts";
import type { Database } from "./db/session.ts";
import { AppError } from "./errors.ts";
import type { LogWriter } from "./log-writer.ts";
import { startMailUpkeep } from "./modules/mail/upkeep.ts";
import { sweepResetCodes } from "./modules/password-reset/codes.ts";
import { sweepRateLimits } from "./modules/rate-limits/service.ts";
import { sweepTokens } from "./modules/tokens/service.ts";
import type { Vault } from "./vault.ts";

const sweepMs = 60_000;
const watchMs = 1000;

/**
 * What one process does for all: empties the log of the database, sends mail, sweeps rows that have had their time, and
 * sees that the file is still there. `lost` settles when it is not: going on would acknowledge writes into nothing.
 */
export async function startUpkeep(
  config: Config,
  db: Database,
  vault: Vault,
  log: LogWriter,
): Promise<{ stop(): Promise<void>; lost: Promise<AppError> }> {
  const mail = await startMailUpkeep({ ...config, db, vault, now: Date.now, notice: log.notice });
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
  const sweep = setInterval(() => {
    const ctx = { db, now: Date.now };
    void Promise.all([sweepRateLimits(ctx), sweepTokens(ctx), sweepResetCodes(ctx)]).catch(() =>
      log.notice("warn", "old limits, tokens and codes could not be swept"),
    );
  }, sweepMs);
  return {
    lost: lost.promise,
    stop: async () => {
      clearInterval(sweep);
      clearInterval(watch);
      await mail.stop();
      await checkpointer.stop();
    },
  };
}

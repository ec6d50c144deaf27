import { addressGroup } from "../address-group.ts";
import type { Database } from "../db/session.ts";
import { AppError } from "../errors.ts";
import { authAttempts, countHit } from "../modules/rate-limits/service.ts";

const mostRemembered = 10_000;

/** Counts authentication attempts of an address; throws 5209 once the minute's ten are spent. */
export type CountAttempt = (clientIp: string | null) => Promise<void>;

/**
 * Makes the counter of authentication attempts (specification, sections 7 and 8: 10 a minute per address). The count is
 * in the database, shared by all processes. That an address is over it is remembered here until a place is free again,
 * so that a script which hammers costs neither a read nor a write.
 */
export function createAttemptCounter(db: Database, now: () => number): CountAttempt {
  const freeAt = new Map<string, number>();
  return async (clientIp) => {
    const address = addressGroup(clientIp ?? "unknown");
    const known = freeAt.get(address);
    let waitMs = known === undefined ? 0 : known - now();
    if (waitMs <= 0) {
      freeAt.delete(address);
      waitMs = await countHit({ db, now }, authAttempts, address);
      if (waitMs === 0) return;
      if (freeAt.size >= mostRemembered) freeAt.clear();
      freeAt.set(address, now() + waitMs);
    }
    throw new AppError(5209, undefined, { retryAfter: Math.ceil(waitMs / 1000) });
  };
}

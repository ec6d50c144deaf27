import type { Database } from "../db/session.ts";
import { tooManyAuthAttempts } from "../errors.ts";
import { recordAudit } from "../modules/audit/service.ts";
import { addressSubject } from "../modules/rate-limits/address-subject.ts";
import { authAttempts, countHit } from "../modules/rate-limits/service.ts";
import type { Vault } from "../security/vault.ts";
import { addressGroup } from "../values/ip-prefix.ts";

const maxRemembered = 10_000;

/** Who tries, where, and in which request. */
export interface AttemptBy {
  clientIp: string | null;
  namespace: string;
  requestId: string;
}

/** Counts authentication attempts of an address; throws tooManyAuthAttempts once the minute's ten are spent. */
export type CountAttempt = (by: AttemptBy) => Promise<void>;

/**
 * Makes the counter of authentication attempts (specification, sections 7 and 8: 10 a minute per address). The count is
 * in the database, shared by all processes. That an address is over it is remembered here until a place is free again,
 * so that a script which hammers costs neither a read nor a write; the audit log is told each time that it begins.
 */
export function createAttemptCounter(db: Database, vault: Vault, now: () => number): CountAttempt {
  const freeAt = new Map<string, number>();
  return async ({ clientIp, namespace, requestId }) => {
    const address = addressGroup(clientIp ?? "unknown");
    const known = freeAt.get(address);
    let waitMs = known === undefined ? 0 : known - now();
    // A longer wait than there can be was reckoned before the clock was set back.
    if (waitMs <= 0 || waitMs > 2 * authAttempts.windowMs) {
      freeAt.delete(address);
      waitMs = await countHit({ db, now }, authAttempts, addressSubject(vault, clientIp));
      if (waitMs === 0) return;
      if (freeAt.size >= maxRemembered) freeAt.clear();
      freeAt.set(address, now() + waitMs);
      const ctx = { db, actor: { kind: "visitor" }, requestId, now, clientIp } as const;
      await recordAudit(ctx, { event: "attempts.refused", namespace, error: "tooManyAuthAttempts" });
    }
    throw tooManyAuthAttempts(undefined, { retryAfter: Math.ceil(waitMs / 1000) });
  };
}

import type { Database } from "../db/session.ts";
import { tooManyAuthAttempts } from "../errors.ts";
import { recordAudit } from "../modules/audit/service.ts";
import { addressSubject, authAttempts, countHit } from "../modules/rate-limits/service.ts";
import type { Vault } from "../security/vault.ts";
import { addressGroup } from "../values/ip-prefix.ts";
import { LruCache } from "../values/lru-cache.ts";

const minRemembered = 5000;

export type CountAttempt = (by: { clientIp: string | null; namespace: string; requestId: string }) => Promise<void>;

/**
 * Allows ten attempts a minute per address (specification, sections 7 and 8). An address over the limit is cached until
 * its next attempt is allowed, so that a flood causes no reads or writes. Throws tooManyAuthAttempts.
 */
export function createAttemptCounter(db: Database, vault: Vault, now: () => number): CountAttempt {
  const freeAt = new LruCache<number>(minRemembered);
  return async ({ clientIp, namespace, requestId }) => {
    const address = addressGroup(clientIp ?? "unknown");
    const known = freeAt.get(address);
    let waitMs = known === undefined ? 0 : known - now();
    // A longer wait means that the clock was set back.
    if (waitMs <= 0 || waitMs > 2 * authAttempts.windowMs) {
      freeAt.delete(address);
      waitMs = await countHit({ db, now }, authAttempts, addressSubject(vault, clientIp), namespace);
      if (waitMs === 0) return;
      freeAt.set(address, now() + waitMs);
      const ctx = { db, actor: { kind: "visitor" }, requestId, now, client: { ip: clientIp } } as const;
      await recordAudit(ctx, { event: "attempts.refused", namespace, error: "tooManyAuthAttempts" });
    }
    throw tooManyAuthAttempts(undefined, { retryAfter: Math.ceil(waitMs / 1000) });
  };
}

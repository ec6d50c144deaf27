import { withTimeout } from "../concurrency/with-timeout.ts";
import { unavailable } from "../errors.ts";
import type { Session } from "./session.ts";

const tooSlow = () => unavailable("The database server is too slow.", { isInternal: true });

/**
 * Returns a session whose calls may take `limitMs` milliseconds in total, not counting the time between calls. Later
 * calls fail with unavailable. A write that was too slow may still be committed.
 */
export function limitSession(session: Session, limitMs: number): Session {
  let leftMs = limitMs;
  let pending = 0;
  let since = 0;
  const limit = async <T>(call: () => Promise<T>): Promise<T> => {
    if (leftMs <= 0) throw tooSlow();
    if (pending++ === 0) since = performance.now();
    return await withTimeout(call(), leftMs, tooSlow).finally(() => {
      if (--pending === 0) leftMs -= performance.now() - since;
    });
  };
  return {
    execute: (stmt) => limit(() => session.execute(stmt)),
    batch: (stmts, mode) => limit(() => session.batch(stmts, mode)),
    transaction: (fn) => limit(() => session.transaction(fn)),
  };
}

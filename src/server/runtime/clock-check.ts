import type { Database } from "../db/session.ts";
import { get } from "../db/statement.ts";
import { selectNewest } from "../health/environment/server.ts";
import type { LogWriter } from "../logging/logger.ts";
import { formatDuration } from "../values/units.ts";

const maxSkewMs = 60_000;

/** Jobs expire rows by age, so they do not run while the clock is behind the newest row or has just jumped. */
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

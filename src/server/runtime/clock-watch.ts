import type { LogWriter } from "../logging/logger.ts";
import { formatDuration } from "../values/duration.ts";

const maxJumpMs = 60_000;
const steadyMs = 10 * 60_000;

/** After a jump of more than a minute the clock is not steady until ten minutes pass without another. */
export function createClockWatch(now: () => number, monotonic: () => number, notice: LogWriter["notice"]) {
  let offset = now() - monotonic();
  let steadyFrom = monotonic();
  return (): boolean => {
    const at = monotonic();
    const jump = now() - at - offset;
    offset += jump;
    if (Math.abs(jump) > maxJumpMs) {
      steadyFrom = at + steadyMs;
      const way = `${jump > 0 ? "ahead" : "back"} by ${formatDuration(jump)}`;
      const effect = "nothing expires and no old rows are deleted until it has been steady for ten minutes";
      notice("warn", `the clock jumped ${way}; ${effect}`);
    }
    return at >= steadyFrom;
  };
}

import { formatDuration } from "../values/duration.ts";

const maxJumpMs = 60_000;
const steadyMs = 10 * 60_000;

/**
 * Creates a function that tells whether the wall clock (`now`) is steady, by comparing it with the monotonic one at each
 * call; both in milliseconds. After a jump of more than a minute it is not, until ten minutes pass without another.
 */
export function createClockWatch(
  now: () => number,
  monotonic: () => number,
  notice: (level: "warn", message: string) => void,
) {
  let offset = now() - monotonic();
  let jumpedAt = Number.NEGATIVE_INFINITY;
  return (): boolean => {
    const at = monotonic();
    const jump = now() - at - offset;
    offset += jump;
    if (Math.abs(jump) > maxJumpMs) {
      jumpedAt = at;
      const way = `${jump > 0 ? "ahead" : "back"} by ${formatDuration(jump)}`;
      const effect = "orders and idempotency keys do not expire until it has been steady for ten minutes";
      notice("warn", `the clock jumped ${way}; ${effect}`);
    }
    return at - jumpedAt >= steadyMs;
  };
}

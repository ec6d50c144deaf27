import { formatDuration } from "../values/duration.ts";

const maxJumpMs = 60_000;
const steadyMs = 10 * 60_000;

/**
 * Compares the wall clock (`now`) with the monotonic one at each call of `isSteady`; both in milliseconds. After a jump of
 * more than a minute, in either direction, the wall clock is not steady until ten minutes have passed without another.
 */
export function createClockWatch(
  now: () => number,
  monotonic: () => number,
  notice: (level: "warn", message: string) => void,
) {
  let offset = now() - monotonic();
  let jumpedAt = Number.NEGATIVE_INFINITY;
  return {
    isSteady(): boolean {
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
    },
  };
}

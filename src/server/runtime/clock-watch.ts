import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { writeWhole } from "../config/data-dir.ts";
import { attempt } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { formatDuration } from "../values/duration.ts";

const maxJumpMs = 60_000;
const steadyMs = 10 * 60_000;
/** The kept offset is written again when it is wrong by this. */
const maxKeptErrorMs = 5000;

/** Watches the clock of this system, also from one server of a data directory to the next. */
export function watchSystemClock(dataDir: string, notice: LogWriter["notice"]): () => boolean {
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  // Other systems do not name their boots.
  if (boot === undefined) return createClockWatch(Date.now, () => performance.now(), notice);
  return createClockWatch(Date.now, () => uptime() * 1000, notice, keepOffset(dataDir, boot));
}

/** Keeps the offset of the wall clock to the time since a boot in `clock.json`. NaN: unknown, or of another boot. */
export function keepOffset(dataDir: string, boot: string) {
  const path = join(dataDir, "clock.json");
  return {
    read(): number {
      const kept = attempt(() => JSON.parse(readFileSync(path, "utf8")));
      return kept?.boot === boot ? Number(kept.offset_ms) : Number.NaN;
    },
    write(offset_ms: number): void {
      // Without the file a restart ends a pause. A full disk is reported elsewhere.
      attempt(() => writeWhole(dataDir, path, `${JSON.stringify({ boot, offset_ms })}\n`));
    },
  };
}

/**
 * Creates a function that tells whether the wall clock (`now`) is steady, by comparing it with the monotonic one at each
 * call; both in milliseconds. After a jump of more than a minute it is not, until ten minutes pass without another.
 * @param kept keeps the offset of a steady clock; a watch that is created during a pause begins with a jump.
 */
export function createClockWatch(
  now: () => number,
  monotonic: () => number,
  notice: (level: "warn", message: string) => void,
  kept?: ReturnType<typeof keepOffset>,
) {
  let offset = kept?.read() ?? Number.NaN;
  let written = offset;
  let jumpedAt = Number.NEGATIVE_INFINITY;
  const isSteady = (): boolean => {
    const at = monotonic();
    const before = offset;
    offset = now() - at;
    const jump = offset - before;
    if (Math.abs(jump) > maxJumpMs) {
      jumpedAt = at;
      const way = `${jump > 0 ? "ahead" : "back"} by ${formatDuration(jump)}`;
      const effect = "nothing expires and no old rows are deleted until it has been steady for ten minutes";
      notice("warn", `the clock jumped ${way}; ${effect}`);
    }
    if (at - jumpedAt < steadyMs) return false;
    if (Math.abs(offset - written) < maxKeptErrorMs) return true;
    written = offset;
    kept?.write(offset);
    return true;
  };
  isSteady();
  return isSteady;
}

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClock, type FakeClock } from "./clock.ts";

/** A clock that stands still until a test moves it, and that other processes share. */
export interface ProcessClock extends FakeClock {
  /** The environment that makes a Bun program, compiled or not, use this clock. */
  env: Record<string, string>;
}

/** Makes a clock for the processes of a test file. `dir` is the directory for the file with the time. */
export function createProcessClock(dir: string): ProcessClock {
  const file = join(dir, "clock");
  const clock = createClock();
  writeFileSync(file, new Float64Array([clock.now()]));
  const bytes = Bun.mmap(file);
  const time = new Float64Array(bytes.buffer, bytes.byteOffset, 1);
  return {
    now: clock.now,
    advance: (ms) => {
      clock.advance(ms);
      time[0] = clock.now();
    },
    env: { FAKE_CLOCK_FILE: file, BUN_OPTIONS: `--preload ${join(import.meta.dir, "fake-clock-preload.ts")}` },
  };
}

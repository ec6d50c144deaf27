/** A clock that stands still until a test moves it. */
export interface FakeClock {
  /** Epoch milliseconds. */
  now: () => number;
  /** Moves it forward by so many milliseconds. */
  advance: (ms: number) => void;
}

/** Makes a clock that shows noon of a January day, unless told otherwise. */
export function createClock(start = Date.UTC(2030, 0, 15, 12)): FakeClock {
  let at = start;
  return {
    now: () => at,
    advance: (ms) => {
      at += ms;
    },
  };
}

const withinMs = 10_000;

/** Waits for a condition that something outside the test brings about; fails when it never holds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Never happened: ${what}`);
    await Bun.sleep(5);
  }
}

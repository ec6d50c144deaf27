/** A clock that stands still until a test moves it. */
export interface FakeClock {
  /** Returns epoch milliseconds. */
  now: () => number;
  /** Moves the clock forward by this many milliseconds. */
  advance: (ms: number) => void;
}

/** Creates a clock, which by default shows noon of a day in January 2030. */
export function createClock(start = Date.UTC(2030, 0, 15, 12)): FakeClock {
  let at = start;
  return {
    now: () => at,
    advance: (ms) => {
      at += ms;
    },
  };
}

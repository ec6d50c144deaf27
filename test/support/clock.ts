/** A clock that stands still until a test moves it. */
export interface FakeClock {
  /** Epoch milliseconds. */
  now: () => number;
  /** Moves it forward by so many milliseconds. */
  advance: (ms: number) => void;
}

/** Makes a clock; by default it shows noon of a January day. */
export function createClock(start = Date.UTC(2030, 0, 15, 12)): FakeClock {
  let at = start;
  return {
    now: () => at,
    advance: (ms) => {
      at += ms;
    },
  };
}

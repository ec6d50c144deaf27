/** Yields uniform random numbers below 1. The same seed gives the same numbers. */
export function* uniform(seed: number): Generator<number, never> {
  let state = seed >>> 0;
  for (;;) {
    // This generator is called Mulberry32.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    yield ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

const timeoutMs = 15_000;

/**
 * Polls until `probe` returns a value, first every 5 ms, then less and less often, so that a long wait does not use the
 * processor.
 * @param what describes the event, for the error.
 * @returns the first value that is not false, undefined or null.
 * @throws Error after 15 seconds, before a test of `npm test` reaches its own limit.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
): Promise<Exclude<T, false | undefined | null>> {
  const started = performance.now();
  for (;;) {
    const value = await probe();
    if (value !== false && value !== undefined && value !== null) {
      return value as Exclude<T, false | undefined | null>;
    }
    const elapsed = performance.now() - started;
    if (elapsed > timeoutMs) throw new Error(`Still waiting: ${what}`);
    await Bun.sleep(Math.min(Math.max(5, elapsed / 10), 50));
  }
}

const timeoutMs = 15_000;
const everyMs = 5;

/**
 * Polls until `probe` returns a value.
 * @param what describes the event, for the error.
 * @returns the first value that is not false, undefined or null.
 * @throws Error after fifteen seconds.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
): Promise<Exclude<T, false | undefined | null>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== false && value !== undefined && value !== null) {
      return value as Exclude<T, false | undefined | null>;
    }
    if (performance.now() > deadline) throw new Error(`Still waiting: ${what}`);
    await Bun.sleep(everyMs);
  }
}

/** Returns the result of the work; undefined if it throws, for any reason. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

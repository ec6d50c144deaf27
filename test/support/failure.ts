/**
 * The error that work throws or rejects with; fails when it does neither. Bun's own `rejects` runs the event loop by
 * itself while it waits, and is slow where the work waits for `setImmediate`.
 */
export async function failureOf(work: Promise<unknown> | (() => unknown)): Promise<unknown> {
  let value: unknown;
  try {
    value = await (typeof work === "function" ? work() : work);
  } catch (error) {
    return error;
  }
  throw new Error(`It should have failed, and gave ${JSON.stringify(value)}`);
}

/**
 * Returns the error with which `work` fails, and throws if `work` succeeds. Bun's `rejects` is slow if the work waits
 * for `setImmediate`, because it runs the event loop itself.
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

import { isBusy, mapServerError } from "../db-errors.ts";

/** Repeats work that found the database locked, with short pauses, until the deadline. Errors: mapped. */
export async function retryWhileBusy<T>(work: () => Promise<T>, timeoutMs: number): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw mapServerError(error);
    }
    await Bun.sleep(1 + Math.random() * 9);
  }
}

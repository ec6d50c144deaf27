import type { Bench } from "./measure.ts";
import type { Running } from "./process.ts";
import { call, namespaceQuery, sampleProduct } from "./store.ts";

/**
 * Sends calls at a steady rate until `end` resolves, without waiting for the replies of earlier calls.
 * @param callsPerWrite one call in this many creates a product; the others read one.
 * @returns the milliseconds of each call, counted from the time at which it was due.
 */
export async function callSteadily(
  { store: { productIds, headers } }: Bench,
  server: Running,
  end: Promise<unknown>,
  { everyMs, callsPerWrite = Number.POSITIVE_INFINITY }: { everyMs: number; callsPerWrite?: number },
): Promise<number[]> {
  const calls: Promise<number>[] = [];
  let isOver = false;
  const over = end.finally(() => {
    isOver = true;
  });
  // Errors of `over` are ignored here, because it is awaited after all calls.
  over.catch(() => {});
  const send = async (number: number, due: number) => {
    if (number % callsPerWrite === callsPerWrite - 1) {
      await call(server, `/products/${namespaceQuery}`, headers, sampleProduct(crypto.randomUUID()));
    } else await call(server, `/products/${productIds[number % productIds.length]}/${namespaceQuery}`, headers);
    return performance.now() - due;
  };
  for (let due = performance.now(); !isOver; due += everyMs) {
    await Bun.sleep(Math.max(0, due - performance.now()));
    const sent = send(calls.length, due);
    sent.catch(() => {});
    calls.push(sent);
  }
  await over;
  return Promise.all(calls);
}

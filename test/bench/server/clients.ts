import { call as callOnce, namespaceQuery, type Store } from "../store.ts";
import { orderBody } from "../writes.ts";

const getters = 8;
const buyers = 4;
const pauseMs = 5;
const retryAfterMs = 50;
/** The drill ends if a call has no success within this many milliseconds. */
const giveUpMs = 60_000;

/** A call of a client, including its retries. */
export interface Call {
  startedAt: number;
  /** Milliseconds from the first request to the success. */
  ms: number;
  retries: number;
}

/** An acknowledged order. */
export interface Acknowledged {
  id: string;
  number: number;
}

/** Clients that read products and create orders, one call after another, until they are stopped. */
export interface Clients {
  /** The calls that have ended, in the order in which they ended. */
  calls: Call[];
  acknowledged: Acknowledged[];
  /** Resolves when each client has had a success after this time. Throws if a client gave up. */
  served: (since: number) => Promise<void>;
  /** Resolves when all calls that began before this time have ended. Throws if a client gave up. */
  settled: (before: number) => Promise<void>;
  /** Stops the clients after their present calls. Throws if a client gave up. */
  stop: () => Promise<void>;
}

/**
 * Starts the clients. They repeat a failed call, for orders with the same idempotency key. The order's note contains
 * the key.
 */
export function startClients(url: string, { headers, productIds, ...store }: Store): Clients {
  const calls: Call[] = [];
  const acknowledged: Acknowledged[] = [];
  const lastSuccess: number[] = Array(getters + buyers).fill(0);
  const waitingSince: number[] = Array(getters + buyers).fill(Number.POSITIVE_INFINITY);
  let isStopping = false;

  async function call(client: number, send: () => Promise<{ data: unknown }>): Promise<unknown> {
    const startedAt = performance.now();
    waitingSince[client] = startedAt;
    for (let retries = 0; ; retries++) {
      const outcome = await send().catch((error: Error) => error);
      const endedAt = performance.now();
      if (!(outcome instanceof Error)) {
        calls.push({ startedAt, ms: endedAt - startedAt, retries });
        lastSuccess[client] = endedAt;
        waitingSince[client] = Number.POSITIVE_INFINITY;
        return outcome.data;
      }
      if (endedAt - startedAt > giveUpMs) throw outcome;
      await Bun.sleep(retryAfterMs);
    }
  }

  async function run(client: number): Promise<void> {
    for (let index = client; !isStopping; index += 7) {
      if (client < getters) {
        const path = `/products/${productIds[index % productIds.length]}/${namespaceQuery}`;
        await call(client, () => callOnce({ url }, path, headers));
      } else {
        const key = crypto.randomUUID();
        const own = { ...headers, "Idempotency-Key": key };
        const body = orderBody({ ...store, headers, productIds }, key);
        const order = await call(client, () => callOnce({ url }, `/orders/${namespaceQuery}`, own, body));
        acknowledged.push(order as Acknowledged);
      }
      await Bun.sleep(pauseMs);
    }
  }

  const running = Promise.all(lastSuccess.map((_, client) => run(client)));
  // The error is ignored here, because the functions that wait for the clients throw it.
  running.catch(() => {});
  const poll = async (isDone: () => boolean) => {
    while (!isDone()) await Promise.race([running, Bun.sleep(2)]);
  };
  return {
    calls,
    acknowledged,
    served: (since) => poll(() => lastSuccess.every((at) => at > since)),
    settled: (before) => poll(() => waitingSince.every((at) => at >= before)),
    async stop() {
      isStopping = true;
      await running;
    },
  };
}

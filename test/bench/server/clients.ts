import { openStoreDatabase } from "../../../src/server/admin/open-database.ts";
import { figureAlone } from "../compare.ts";
import type { Row } from "../report.ts";
import { namespaceQuery, type Store } from "../store.ts";
import { orderBody } from "../writes.ts";

const getters = 8;
const buyers = 4;
const pauseMs = 5;
const retryAfterMs = 50;
/** A call that has no success by then ends the drill. */
const giveUpMs = 60_000;

/** One call of a client, with its retries. */
export interface Call {
  kind: "get" | "order";
  startedAt: number;
  /** From the first request to the success. */
  ms: number;
  retries: number;
}

/** An order that was acknowledged. */
export interface Acknowledged {
  id: string;
  number: number;
}

/** Clients that read products and create orders, one call after another, until they are stopped. */
export interface Clients {
  /** The calls that have ended, in the order of their ends. */
  calls: Call[];
  acknowledged: Acknowledged[];
  /** How long the slowest request waited for an answer of any status since the last call of this function, in milliseconds. */
  takeSlowest: () => number;
  /** How often each reason for a retry was seen, since the last call of this function. */
  takeFailures: () => Record<string, number>;
  /** Resolves when each client has had a success after this time. Throws when a client gave up. */
  served: (since: number) => Promise<void>;
  /** Resolves when no call that began before this time waits any more. Throws when a client gave up. */
  settled: (before: number) => Promise<void>;
  /** Lets each client finish its call. Throws when a client gave up. */
  stop: () => Promise<void>;
}

/** Starts the clients. A call that fails is repeated; an order with the same idempotency key, which its note names. */
export function startClients(url: string, store: Store): Clients {
  const calls: Call[] = [];
  const acknowledged: Acknowledged[] = [];
  const lastSuccess: number[] = Array(getters + buyers).fill(0);
  const waitingSince: number[] = Array(getters + buyers).fill(Number.POSITIVE_INFINITY);
  let failures: Record<string, number> = {};
  let isStopping = false;
  let slowestMs = 0;

  async function attempt(path: string, init: RequestInit): Promise<string | undefined> {
    let reason: string;
    const sentAt = performance.now();
    try {
      const signal = AbortSignal.timeout(giveUpMs);
      const reply = await fetch(url + path + namespaceQuery, { ...init, signal });
      const text = await reply.text();
      slowestMs = Math.max(slowestMs, performance.now() - sentAt);
      if (reply.ok) return text;
      reason = `${reply.status} ${/"message":"([^"]*)/.exec(text)?.[1] ?? "from the balancer"}`;
    } catch (error) {
      reason = (error instanceof Error ? error.message : String(error)).split(". ")[0] as string;
    }
    failures[`${init.method} ${reason}`] = (failures[`${init.method} ${reason}`] ?? 0) + 1;
    return undefined;
  }

  async function call(client: number, kind: Call["kind"], path: string, init: RequestInit): Promise<string> {
    const startedAt = performance.now();
    waitingSince[client] = startedAt;
    for (let retries = 0; ; retries++) {
      const text = await attempt(path, init);
      const endedAt = performance.now();
      if (text !== undefined) {
        calls.push({ kind, startedAt, ms: endedAt - startedAt, retries });
        lastSuccess[client] = endedAt;
        waitingSince[client] = Number.POSITIVE_INFINITY;
        return text;
      }
      if (endedAt - startedAt > giveUpMs) throw new Error(`${kind}: no success: ${JSON.stringify(failures)}`);
      await Bun.sleep(retryAfterMs);
    }
  }

  async function run(client: number): Promise<void> {
    for (let index = client; !isStopping; index += 7) {
      const { headers, productIds } = store;
      if (client < getters) {
        await call(client, "get", `/products/${productIds[index % productIds.length]}/`, { method: "GET", headers });
      } else {
        const key = crypto.randomUUID();
        const own = { ...headers, "Content-Type": "application/json", "Idempotency-Key": key };
        const init = { method: "POST", headers: own, body: orderBody(store, key) };
        acknowledged.push((JSON.parse(await call(client, "order", "/orders/", init)) as { data: Acknowledged }).data);
      }
      await Bun.sleep(pauseMs);
    }
  }

  const running = Promise.all(lastSuccess.map((_, client) => run(client)));
  // Told to whoever waits for the clients.
  running.catch(() => {});
  const poll = async (isDone: () => boolean) => {
    while (!isDone()) await Promise.race([running, Bun.sleep(2)]);
  };
  return {
    calls,
    acknowledged,
    takeFailures() {
      const taken = failures;
      failures = {};
      return taken;
    },
    takeSlowest() {
      const taken = slowestMs;
      slowestMs = 0;
      return taken;
    },
    served: (since) => poll(() => lastSuccess.every((at) => at > since)),
    settled: (before) => poll(() => waitingSince.every((at) => at >= before)),
    async stop() {
      isStopping = true;
      await running;
    },
  };
}

/** Checks the orders: the acknowledged ones are there under their numbers, and no number is left out. */
export async function countOrders(databaseUrl: string, acknowledged: readonly Acknowledged[]): Promise<Row[]> {
  const db = await openStoreDatabase({ dataDir: "unused", url: databaseUrl });
  const { rows } = await db.execute("select id, number, note from orders");
  await db.close();
  const numbers = new Map(rows.map(({ id, number }) => [String(id), Number(number)]));
  const lost = acknowledged.filter(({ id, number }) => numbers.get(id) !== number).length;
  const gaps = Math.max(...numbers.values()) - new Set(numbers.values()).size;
  const twice = rows.length - new Set(rows.map(({ note }) => note)).size;
  return [
    { name: "orders acknowledged", unit: "", ...figureAlone(acknowledged.length) },
    { name: "orders lost", unit: "", ...figureAlone(lost), mark: { atMost: 0 } },
    { name: "numbers left out", unit: "", ...figureAlone(gaps), mark: { atMost: 0 } },
    { name: "orders made twice", unit: "", ...figureAlone(twice), mark: { atMost: 0 } },
  ];
}

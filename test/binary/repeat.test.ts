import { expect, test } from "bun:test";
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { openShop, useBinaries } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { defaultDataDir, inspectDatabase } from "./load.ts";
import { childrenOf } from "./processes.ts";

const { installBinary } = useBinaries();

const clients = 32;

interface Answer {
  status: number;
  id: string;
}

/** Reads the ids and notes of all orders, and the reserved stock. */
async function inspectOrders(dataDir: string) {
  const database = await openStoreDatabase({ dataDir });
  try {
    const { rows } = await database.execute("select id, note from orders");
    const { rows: stock } = await database.execute("select reserved from products");
    const column = (index: number) => new Set(rows.map((row) => String(row[index])));
    return { orders: column(0), notes: column(1), reserved: Number(stock[0]?.[0]) };
  } finally {
    await database.close();
  }
}

/**
 * Waits up to a second for a commit. Polls the header of the WAL's index without a pause, because the replies follow
 * very soon after the commit.
 */
function awaitCommit(dataDir: string): void {
  const file = openSync(join(dataDir, "bodega.db-shm"), "r");
  const readHeader = () => {
    const header = Buffer.alloc(48);
    readSync(file, header, 0, header.length, 0);
    return header;
  };
  const before = readHeader();
  const deadline = performance.now() + 1000;
  while (readHeader().equals(before) && performance.now() < deadline);
  closeSync(file);
}

test.each([1, 2])(
  "after kill -9 of a server with %d worker(s) between write and reply, repeating all requests with their keys creates each order once",
  async (workers) => {
    const binary = installBinary();
    const { namespace, auth } = await openShop(binary);
    const dataDir = defaultDataDir(binary.dir);
    /** All idempotency keys that were sent. The value is the order's id if a reply came. */
    const sent = new Map<string, string | undefined>();

    async function post(url: string, path: string, body: unknown, key: string, signal?: AbortSignal): Promise<Answer> {
      const headers = { authorization: auth, "content-type": "application/json", "idempotency-key": key };
      const init = { method: "POST", headers, body: JSON.stringify(body), ...(signal && { signal }) };
      const reply = await fetch(`${url}${path}?namespace=${namespace}`, init);
      const { data } = (await reply.json()) as { data?: { id: string } };
      return { status: reply.status, id: data?.id ?? "" };
    }

    const first = await binary.serve("--workers", String(workers));
    const lamp = await post(first.url, "/products/", { title: "Lamp", price: 1, stock: 1_000_000 }, "lamp");
    const order = (url: string, key: string, signal?: AbortSignal) =>
      post(url, "/orders/", { items: [{ product_id: lamp.id, quantity: 1 }], note: key }, key, signal);
    const pids = [first.pid, ...(workers > 1 ? childrenOf(first.pid) : [])];
    const signalAll = (name: NodeJS.Signals) => {
      for (const pid of pids) process.kill(pid, name);
    };
    const unexpected: Answer[] = [];
    let round = 0;
    const stopsBetweenCommitAndReplies = async () => {
      round += 1;
      const leaving = new AbortController();
      const keys: string[] = [];
      const running = Array.from({ length: clients }, async (_, client) => {
        for (let number = 0; !leaving.signal.aborted; number++) {
          const key = `${round}-${client}-${number}`;
          keys.push(key);
          sent.set(key, undefined);
          const answer = await order(first.url, key, leaving.signal).catch(() => undefined);
          if (answer && answer.status !== 201) unexpected.push(answer);
          if (answer) sent.set(key, answer.id);
        }
      });
      const enough = 50 + Math.random() * 100;
      await until("some orders", () => keys.length > enough);
      awaitCommit(dataDir);
      signalAll("SIGSTOP");
      // From now on, no client reads replies.
      leaving.abort();
      await Promise.all(running);
      const { notes } = await inspectOrders(dataDir);
      if (keys.some((key) => sent.get(key) === undefined && notes.has(key))) return true;
      signalAll("SIGCONT");
      return false;
    };
    // The number of tries is random, and bounded only by the time limit of the test.
    while (!(await stopsBetweenCommitAndReplies()));
    signalAll("SIGKILL");
    await first.exited;
    expect(unexpected).toEqual([]);

    const second = await binary.serve("--workers", String(workers));
    const keys = [...sent.keys()];
    const unanswered = keys.filter((key) => sent.get(key) === undefined);
    expect(unanswered.length).toBeGreaterThan(0);
    // Requests without a reply are repeated twice at the same time, as an impatient client does.
    for (const again of [[...unanswered, ...unanswered], keys]) {
      const answers = await Promise.all(again.map((key) => order(second.url, key)));
      for (const [index, { status, id }] of answers.entries()) {
        const key = again[index] as string;
        expect([key, status, id]).toEqual([key, 201, sent.get(key) ?? id]);
        sent.set(key, id);
      }
    }
    const { orders, reserved } = await inspectOrders(dataDir);
    expect((await inspectDatabase(dataDir)).integrity).toBe("ok");
    expect(orders.size).toBe(keys.length);
    expect(new Set(sent.values())).toEqual(orders);
    expect(reserved).toBe(keys.length);
  },
  60_000,
);

import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts";
import { figureAlone, median } from "../compare.ts";
import { createUsers, logIn } from "../logins.ts";
import type { Bench } from "../measure.ts";
import { type Running, runCommand } from "../process.ts";
import type { Row } from "../report.ts";
import { call, namespaceQuery } from "../store.ts";
import { orderBody } from "../writes.ts";
import { startCopy, startDatabase } from "./copy.ts";

/** The delay in one direction, in milliseconds. It separates round trips from each other. */
const delayMs = 5;
const warmUps = 10;
const samples = 15;
/** The previous call is over after this many milliseconds without a byte. */
const quietMs = 50;

/**
 * A proxy in front of a libSQL server. It counts round trips: how often the client sends something after the server has
 * replied.
 */
interface TripCounter extends TcpProxy {
  trips: () => number;
  /** Resolves when nothing was sent for a while. */
  quiet: () => Promise<void>;
}

/** A kind of call. `before` runs before each call and is not measured. */
interface Kind {
  name: string;
  send: (server: Running) => Promise<unknown>;
  before?: () => void;
  atMost: number;
}

/** Measures the median number of round trips to the libSQL server in a call, with a proxy that delays bytes. */
export async function measureRoundTrips(bench: Bench): Promise<Row[]> {
  const database = await startDatabase(bench, "trips");
  const proxy = await startTripCounter(database.url);
  const copy = await startCopy(bench, "trips", `http://127.0.0.1:${proxy.port}`);
  await createUsers(bench, copy, 1);
  proxy.delayMs = delayMs;
  const rows: Row[] = [];
  for (const kind of describeKinds(bench, database.url)) {
    bench.say(`round trips: ${kind.name}`);
    const trips = await countTrips(kind, copy, proxy);
    rows.push({ name: `${kind.name}: round trips`, unit: "", ...figureAlone(trips), mark: { atMost: kind.atMost } });
  }
  for (const server of [copy, proxy, database]) await server.stop();
  return rows;
}

function describeKinds({ binary, store, workDir }: Bench, databaseUrl: string): Kind[] {
  const { headers, productIds } = store;
  const get = (server: Running) => call(server, `/products/${productIds[7]}/${namespaceQuery}`, headers);
  const list = (server: Running) => call(server, `/products/${namespaceQuery}`, headers);
  const order = (server: Running) => call(server, `/orders/${namespaceQuery}`, headers, orderBody(store));
  const address = ["--data-dir", `${workDir}/copy-trips`, "--database-url", databaseUrl];
  const issueKey = [binary, "key", "issue", "-n", "bench", "--name", "another", "--json", ...address];
  return [
    { name: "get", send: get, atMost: 1 },
    { name: "get after a change of keys", send: get, before: () => void runCommand(issueKey), atMost: 1 },
    { name: "list", send: list, atMost: 1 },
    { name: "order", send: order, atMost: 4 },
    { name: "login", send: (server) => logIn(server, "user-0@example.com"), atMost: 4 },
  ];
}

/** Sends calls one after another, and returns their median. */
async function countTrips({ send, before }: Kind, server: Running, proxy: TripCounter): Promise<number> {
  for (let count = 0; count < warmUps; count++) await send(server);
  const trips: number[] = [];
  for (let count = 0; count < samples; count++) {
    before?.();
    await proxy.quiet();
    const sent = proxy.trips();
    await send(server);
    trips.push(proxy.trips() - sent);
  }
  return median(trips);
}

async function startTripCounter(to: string): Promise<TripCounter> {
  let trips = 0;
  let lastAt = 0;
  let isAnswered = true;
  const see = (isAnswer: boolean) => (bytes: Buffer) => {
    if (!isAnswer && isAnswered) trips++;
    isAnswered = isAnswer;
    lastAt = performance.now();
    return bytes;
  };
  const proxy = await startTcpProxy(Number(new URL(to).port));
  return Object.assign(proxy, {
    onSend: see(false),
    onAnswer: see(true),
    trips: () => trips,
    async quiet() {
      const from = performance.now();
      do await Bun.sleep(quietMs / 5);
      while (performance.now() - Math.max(lastAt, from) < quietMs);
    },
  });
}

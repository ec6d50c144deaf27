import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { compareOnce, figureAlone, median } from "../compare.ts";
import { createUsers, logIn } from "../logins.ts";
import type { Bench } from "../measure.ts";
import { type Running, runCommand } from "../process.ts";
import type { Row } from "../report.ts";
import { namespaceQuery } from "../store.ts";
import { orderBody } from "../writes.ts";
import { startCopy, startDatabase } from "./copy.ts";

/** One way, in milliseconds; trips are counted at the first. */
const delays = [5, 1];
const warmUps = 10;
const samples = 15;
/** After so long without a byte, nothing that the call before it caused is on its way. */
const quietMs = 50;

/** A proxy before a libSQL server that counts trips: turns at which the client sends after the server has answered. */
interface Proxy {
  port: number;
  delayMs: number;
  trips: () => number;
  /** Resolves when nothing has been sent for a while. */
  quiet: () => Promise<void>;
  stop: () => void;
}

/** One kind of call; `before` runs before each, unmeasured. */
interface Kind {
  name: string;
  call: (server: Running) => Promise<void>;
  before?: () => void;
  atMost: number;
}

/**
 * Trips to the libSQL server that one call needs (medians), and the time of the call through a proxy that adds 5 or 1 ms
 * each way, compared with the same call on a file.
 */
export async function measureRoundTrips(
  bench: Bench,
  startOnFile: (name: string) => Promise<Running>,
  say: (text: string) => void,
): Promise<Row[]> {
  const database = await startDatabase(bench, "trips");
  const proxy = await startProxy(database.url);
  const copy = await startCopy(bench, { name: "trips", databaseUrl: `http://127.0.0.1:${proxy.port}` });
  const file = await startOnFile("trips");
  for (const server of [copy, file]) await createUsers(bench, server, 1);
  const rows: Row[] = [];
  const times: Row[] = [];
  for (const kind of describeKinds(bench, database.url)) {
    say(`round trips: ${kind.name}`);
    const onFile = await measureCalls(kind, file, proxy);
    for (const delayMs of delays) {
      proxy.delayMs = delayMs;
      const { trips, ms } = await measureCalls(kind, copy, proxy);
      const mark = { atMost: kind.atMost };
      if (delayMs === delays[0])
        rows.push({ name: `${kind.name}: round trips`, unit: "", ...figureAlone(trips), mark });
      const name = `${kind.name}, ${2 * delayMs} ms away (left) beside file`;
      times.push({ name, unit: "ms", ...compareOnce(ms, onFile.ms) });
    }
  }
  for (const server of [copy, file, proxy, database]) await server.stop();
  return [...rows, ...times];
}

function describeKinds(bench: Bench, databaseUrl: string): Kind[] {
  const { binary, store, workDir } = bench;
  const send = async (server: Running, path: string, body?: string) => {
    const init = { headers: { ...store.headers, "Content-Type": "application/json" } };
    const reply = await fetch(server.url + path + namespaceQuery, { ...init, ...(body && { method: "POST", body }) });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${path} was answered ${reply.status}: ${text}`);
  };
  const get = (server: Running) => send(server, `/products/${store.productIds[7]}/`);
  const address = ["--data-dir", `${workDir}/copy-trips`, "--database-url", databaseUrl];
  const issueKey = () => {
    runCommand([binary, "key", "issue", "-n", "bench", "--name", "another", "--json", ...address]);
  };
  return [
    { name: "get", call: get, atMost: 1 },
    { name: "get after a change of keys", call: get, before: issueKey, atMost: 1 },
    { name: "list", call: (server) => send(server, "/products/"), atMost: 1 },
    { name: "order", call: (server) => send(server, "/orders/", orderBody(store)), atMost: 4 },
    { name: "login", call: (server) => logIn(server, "user-0@example.com"), atMost: 4 },
  ];
}

/** The medians of calls that follow one another. */
async function measureCalls({ call, before }: Kind, server: Running, proxy: Proxy) {
  for (let count = 0; count < warmUps; count++) await call(server);
  const trips: number[] = [];
  const times: number[] = [];
  for (let count = 0; count < samples; count++) {
    before?.();
    await proxy.quiet();
    const [sent, started] = [proxy.trips(), performance.now()];
    await call(server);
    times.push(performance.now() - started);
    trips.push(proxy.trips() - sent);
  }
  return { trips: median(trips), ms: median(times) };
}

async function startProxy(to: string): Promise<Proxy> {
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

import { compareOnce, figureAlone, median } from "../compare.ts";
import { createUsers, logIn } from "../logins.ts";
import type { Bench } from "../measure.ts";
import { type Running, runCommand } from "../process.ts";
import type { Row } from "../report.ts";
import { namespaceQuery } from "../store.ts";
import { orderBody } from "../writes.ts";
import { startCopy, startDatabase } from "./copy.ts";

const delayMs = 5;
const warmUps = 10;
const samples = 15;
/** After so long without a request, nothing that the call before it caused is on its way. */
const quietMs = 50;

/** A proxy before a libSQL server that delays each request and each reply, and counts requests. */
interface Proxy {
  url: string;
  requests: () => number;
  /** Resolves when no request has been sent for a while. */
  quiet: () => Promise<void>;
  stop: () => Promise<void>;
}

/** One kind of call; `before` runs before each, unmeasured. */
interface Kind {
  name: string;
  call: (server: Running) => Promise<void>;
  before?: () => void;
  atMost: number;
}

/**
 * Requests to the libSQL server that one call causes (medians), and the time of the call through a proxy that adds 5 ms
 * each way, compared with the same call on a file.
 */
export async function measureRoundTrips(
  bench: Bench,
  startOnFile: (name: string) => Promise<Running>,
  say: (text: string) => void,
): Promise<Row[]> {
  const database = await startDatabase(bench, "trips");
  const proxy = startProxy(database.url);
  const copy = await startCopy(bench, { name: "trips", databaseUrl: proxy.url });
  const file = await startOnFile("trips");
  for (const server of [copy, file]) await createUsers(bench, server, 1);
  const trips: Row[] = [];
  const times: Row[] = [];
  for (const kind of describeKinds(bench, database.url)) {
    say(`round trips: ${kind.name}`);
    const { requests, ms } = await measureCalls(kind, copy, proxy);
    const onFile = await measureCalls(kind, file, proxy);
    trips.push({
      name: `${kind.name}: round trips`,
      unit: "",
      ...figureAlone(requests),
      mark: { atMost: kind.atMost },
    });
    times.push({
      name: `${kind.name}, 10 ms away (left) beside file`,
      unit: "ms",
      ...compareOnce(ms, onFile.ms),
    });
  }
  for (const server of [copy, file, proxy, database]) await server.stop();
  return [...trips, ...times];
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
    { name: "order", call: (server) => send(server, "/orders/", orderBody(store)), atMost: 3 },
    { name: "login", call: (server) => logIn(server, "user-0@example.com"), atMost: 3 },
  ];
}

/** The medians of calls that follow one another. */
async function measureCalls({ call, before }: Kind, server: Running, proxy: Proxy) {
  for (let count = 0; count < warmUps; count++) await call(server);
  const requests: number[] = [];
  const times: number[] = [];
  for (let count = 0; count < samples; count++) {
    before?.();
    await proxy.quiet();
    const [sent, started] = [proxy.requests(), performance.now()];
    await call(server);
    times.push(performance.now() - started);
    requests.push(proxy.requests() - sent);
  }
  return { requests: median(requests), ms: median(times) };
}

function startProxy(to: string): Proxy {
  let requests = 0;
  let lastAt = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      requests += 1;
      lastAt = performance.now();
      const { pathname, search } = new URL(request.url);
      const body = request.method === "GET" ? undefined : await request.arrayBuffer();
      await Bun.sleep(delayMs);
      const reply = await fetch(to + pathname + search, { method: request.method, headers: request.headers, body });
      const bytes = await reply.arrayBuffer();
      await Bun.sleep(delayMs);
      const type = reply.headers.get("content-type");
      return new Response(bytes, { status: reply.status, headers: type ? { "content-type": type } : {} });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests: () => requests,
    async quiet() {
      const from = performance.now();
      do await Bun.sleep(quietMs / 5);
      while (performance.now() - Math.max(lastAt, from) < quietMs);
    },
    stop: () => server.stop(true),
  };
}

import { join } from "node:path";
import { startHttpFront, type Way } from "../../support/http-front.ts";
import { type Sqld, startSqld } from "../../support/sqld.ts";
import { figureAlone } from "../compare.ts";
import type { Bench } from "../measure.ts";
import { findPort, type Running } from "../process.ts";
import type { Row } from "../report.ts";
import { type Call, type Clients, countOrders, startClients } from "./clients.ts";
import { fillDatabase, startCopy, startDatabase } from "./copy.ts";
import { runFaults } from "./faults.ts";
import { type Balancer, startBalancer } from "./haproxy.ts";

const copyCount = 3;
/** Over HTTP, a libSQL server keeps the lock of a killed copy for five seconds. */
const maxWaitMs: Record<Way, number> = { websocket: 500, http: 6000 };
const downMs = 1000;

/** Three copies behind a balancer, under load. */
interface Drill {
  bench: Bench;
  way: Way;
  copies: Running[];
  /** Starts this copy again, at its old address. */
  restart: (index: number) => Promise<void>;
  balancer: Balancer;
  clients: Clients;
  say: (text: string) => void;
}

/** The clients' results in one part of the drill. */
interface Met {
  calls: number;
  maxRetries: number;
  /** The call that waited longest. */
  slowest: Call;
}

/**
 * Three copies before one durable libSQL server, behind HAProxy, while clients read products and create orders: copies
 * are killed, all are restarted in turn, and the libSQL server is killed. Then the orders are counted.
 */
export async function runDrill(bench: Bench, say: (text: string) => void): Promise<Row[]> {
  say("a libSQL server with the rows of the store");
  await fillDatabase(bench);
  const rows: Row[] = [];
  for (const way of ["websocket", "http"] as const) {
    const own = [...(await runCopies(bench, way, say)), ...(await runFaults(bench, way, say))];
    rows.push(...own.map((row) => ({ ...row, name: `${way}: ${row.name}` })));
  }
  return rows;
}

async function runCopies(bench: Bench, way: Way, say: (text: string) => void): Promise<Row[]> {
  const database = await startDatabase(bench, `drill-${way}`);
  const front = way === "http" ? startHttpFront(database.url) : undefined;
  const databaseUrl = front?.url ?? database.url;
  const ports = await findPorts(copyCount);
  const start = (index: number) =>
    startCopy(bench, { name: `drill-${way}-${index}`, databaseUrl, port: ports[index] as number });
  const copies = await Promise.all(ports.map((_, index) => start(index)));
  const balancer = await startBalancer(
    bench.workDir,
    copies.map(({ url }) => url),
  );
  await balancer.allUp();
  const clients = startClients(balancer.url, bench.store);
  const restart = async (index: number) => {
    copies[index] = await start(index);
    await balancer.allUp();
  };
  const drill = { bench, way, copies, restart, balancer, clients, say };
  await Bun.sleep(bench.effort.seconds * 1000);
  const rows = describeCalm(clients);
  rows.push(...(await killCopies(drill)), ...(await restartAll(drill)));
  const killed = await killDatabase(drill, database);
  rows.push(killed.row);
  await clients.stop();
  rows.push(...(await countOrders(database.url, clients.acknowledged)));
  for (const server of [balancer, ...copies, killed.database, ...(front ? [front] : [])]) await server.stop();
  return rows;
}

/** Ports that are free and differ. */
async function findPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await findPort());
  return [...ports];
}

function describeCalm({ calls }: Clients): Row[] {
  const { calls: count, slowest } = summarize(calls);
  const seconds = (performance.now() - Math.min(...calls.map(({ startedAt }) => startedAt))) / 1000;
  return [
    { name: "at rest: calls of three copies", unit: "/s", ...figureAlone(count / seconds) },
    { name: "at rest: longest wait", unit: "ms", ...figureAlone(slowest.ms) },
  ];
}

/** Kills the copies in turn, at random moments, and starts each again a second later. */
async function killCopies(drill: Drill): Promise<Row[]> {
  const { bench, way, copies, clients, restart } = drill;
  const kills = bench.effort.rounds * 2;
  const met: Met[] = [];
  for (let count = 0; count < kills; count++) {
    const index = count % copyCount;
    await Bun.sleep(Math.random() * 500);
    met.push(
      await meet(clients, async () => {
        await copies[index]?.stop("SIGKILL");
        await Bun.sleep(downMs);
        await restart(index);
      }),
    );
    sayWithFailures(drill, `copy killed, ${count + 1} of ${kills}: ${describeMet(met.at(-1) as Met)}`);
  }
  const maxRetries = Math.max(...met.map((one) => one.maxRetries));
  const maxMs = Math.max(...met.map(({ slowest }) => slowest.ms));
  const bad = met.filter((one) => one.maxRetries > 1 || one.slowest.ms > maxWaitMs[way]).length;
  return [
    { name: "copy killed: most retries of a call", unit: "", ...figureAlone(maxRetries), mark: { atMost: 1 } },
    { name: "copy killed: longest wait", unit: "ms", ...figureAlone(maxMs), mark: { atMost: maxWaitMs[way] } },
    { name: `copy killed: kills of ${kills} beyond that`, unit: "", ...figureAlone(bad), mark: { atMost: 0 } },
  ];
}

async function restartAll(drill: Drill): Promise<Row[]> {
  const { copies, clients, restart } = drill;
  const met = await meet(clients, async () => {
    for (const [index, copy] of copies.entries()) {
      await copy.stop("SIGTERM");
      await restart(index);
    }
  });
  sayWithFailures(drill, `rolling restart: ${describeMet(met)}`);
  return [
    { name: "rolling restart: most retries of a call", unit: "", ...figureAlone(met.maxRetries), mark: { atMost: 1 } },
    { name: "rolling restart: longest wait", unit: "ms", ...figureAlone(met.slowest.ms) },
  ];
}

/** Kills the libSQL server and starts it again, several times; the row is the longest time until all clients were served. */
async function killDatabase(drill: Drill, first: Sqld): Promise<{ row: Row; database: Sqld }> {
  const { bench, way, clients, balancer } = drill;
  const options = { dir: join(bench.workDir, `sqld-drill-${way}`), port: Number(new URL(first.url).port) };
  let database = first;
  let maxMs = 0;
  for (let count = 1; count <= bench.effort.rounds; count++) {
    await database.stop();
    await Bun.sleep(downMs);
    database = await startSqld(options);
    const returnedAt = performance.now();
    await clients.served(returnedAt);
    const ms = performance.now() - returnedAt;
    maxMs = Math.max(maxMs, ms);
    sayWithFailures(drill, `sqld killed, ${count} of ${bench.effort.rounds}: all served after ${ms.toFixed(0)} ms`);
    await balancer.allUp();
    await Bun.sleep(downMs);
  }
  const name = "sqld killed: all clients served after its return";
  return { row: { name, unit: "ms", ...figureAlone(maxMs), mark: { atMost: 1000 } }, database };
}

/** The calls that end during this work, or that it keeps waiting. */
async function meet(clients: Clients, work: () => Promise<void>): Promise<Met> {
  const before = clients.calls.length;
  await work();
  const endedAt = performance.now();
  await clients.settled(endedAt);
  return summarize(clients.calls.slice(before).filter((call) => call.startedAt < endedAt));
}

function summarize(calls: readonly Call[]): Met {
  return {
    calls: calls.length,
    maxRetries: Math.max(...calls.map(({ retries }) => retries)),
    slowest: calls.reduce((slowest, call) => (call.ms > slowest.ms ? call : slowest)),
  };
}

function describeMet({ calls, maxRetries, slowest }: Met): string {
  return `${calls} calls, at most ${maxRetries} retries, slowest: ${slowest.kind}, ${slowest.ms.toFixed(0)} ms`;
}

function sayWithFailures({ clients, say }: Drill, text: string): void {
  const failures = Object.entries(clients.takeFailures()).map(([reason, count]) => `${count} x ${reason}`);
  say([text, ...failures].join("; "));
}

import { join } from "node:path";
import { openStoreDatabase } from "../../../src/server/admin/open-database.ts";
import { type Sqld, startSqld } from "../../support/sqld.ts";
import { figureAlone } from "../compare.ts";
import type { Bench } from "../measure.ts";
import { findPort, type Running } from "../process.ts";
import type { Row } from "../report.ts";
import { type Acknowledged, type Call, type Clients, startClients } from "./clients.ts";
import { fillDatabase, startCopy, startDatabase } from "./copy.ts";
import { checkEveryMs, startBalancer } from "./haproxy.ts";

const copyCount = 3;
const maxWaitMs = 500;
const downMs = 1000;
const databaseName = "drill";

/** Three copies of Bodega behind a load balancer, under load. */
interface Drill {
  bench: Bench;
  copies: Running[];
  /** Starts a copy again, at its previous address. */
  restart: (index: number) => Promise<void>;
  clients: Clients;
}

/**
 * Runs three copies on a durable libSQL server, behind HAProxy, while clients read products and create orders. Kills
 * copies, restarts all in turn, and kills the libSQL server. Then counts the orders.
 */
export async function runDrill(bench: Bench): Promise<Row[]> {
  await fillDatabase(bench);
  const database = await startDatabase(bench, databaseName);
  const ports: number[] = [];
  const copies: Running[] = [];
  const start = (index: number) => startCopy(bench, `drill-${index}`, database.url, ports[index] as number);
  for (let index = 0; index < copyCount; index++) {
    ports.push(await findPort());
    copies.push(await start(index));
  }
  const balancer = await startBalancer(bench.workDir, ports);
  const clients = startClients(balancer.url, bench.store);
  const restart = async (index: number) => {
    copies[index] = await start(index);
    await Bun.sleep(2 * checkEveryMs);
  };
  const drill = { bench, copies, restart, clients };
  const atRest = await meet(clients, () => Bun.sleep(bench.effort.seconds * 1000));
  const rows: Row[] = [{ name: "at rest: longest wait", unit: "ms", ...figureAlone(longestWait(atRest)) }];
  rows.push(...(await killCopies(drill)), ...(await restartAll(drill)));
  const killed = await killDatabase(drill, database);
  rows.push(killed.row);
  await clients.stop();
  rows.push(...(await countOrders(database.url, clients.acknowledged)));
  for (const server of [balancer, ...copies, killed.database]) await server.stop();
  return rows;
}

/** Kills the copies in turn at random moments, and starts each again after a second. */
async function killCopies({ bench, copies, clients, restart }: Drill): Promise<Row[]> {
  const met: Call[] = [];
  for (let count = 0; count < bench.effort.rounds * 2; count++) {
    bench.say(`copy killed, ${count + 1}`);
    const index = count % copyCount;
    await Bun.sleep(Math.random() * 500);
    const calls = await meet(clients, async () => {
      await copies[index]?.stop("SIGKILL");
      await Bun.sleep(downMs);
      await restart(index);
    });
    met.push(...calls);
  }
  const longest = figureAlone(longestWait(met));
  return [
    { name: "copy killed: most retries of a call", unit: "", ...maxRetries(met), mark: { atMost: 1 } },
    { name: "copy killed: longest wait", unit: "ms", ...longest, mark: { atMost: maxWaitMs } },
  ];
}

async function restartAll({ bench, copies, clients, restart }: Drill): Promise<Row[]> {
  bench.say("rolling restart");
  const met = await meet(clients, async () => {
    for (const [index, copy] of copies.entries()) {
      await copy.stop("SIGTERM");
      await restart(index);
    }
  });
  return [
    { name: "rolling restart: most retries of a call", unit: "", ...maxRetries(met), mark: { atMost: 1 } },
    { name: "rolling restart: longest wait", unit: "ms", ...figureAlone(longestWait(met)) },
  ];
}

/**
 * Kills the libSQL server and starts it again, several times. The row has the longest time until all clients had a
 * success.
 */
async function killDatabase({ bench, clients }: Drill, first: Sqld) {
  const options = { dir: join(bench.workDir, `sqld-${databaseName}`), port: Number(new URL(first.url).port) };
  let database = first;
  let maxMs = 0;
  for (let count = 1; count <= bench.effort.rounds; count++) {
    bench.say(`sqld killed, ${count}`);
    await database.stop();
    await Bun.sleep(downMs);
    database = await startSqld(options);
    const returnedAt = performance.now();
    await clients.served(returnedAt);
    maxMs = Math.max(maxMs, performance.now() - returnedAt);
    await Bun.sleep(downMs);
  }
  const name = "sqld killed: all clients served after its return";
  const row: Row = { name, unit: "ms", ...figureAlone(maxMs), mark: { atMost: 1000 } };
  return { row, database };
}

/** Returns the calls that end during `work`, and those that wait because of it. */
async function meet(clients: Clients, work: () => Promise<void>): Promise<Call[]> {
  const before = clients.calls.length;
  await work();
  const endedAt = performance.now();
  await clients.settled(endedAt);
  return clients.calls.slice(before).filter((call) => call.startedAt < endedAt);
}

function longestWait(calls: readonly Call[]): number {
  return Math.max(...calls.map(({ ms }) => ms));
}

function maxRetries(calls: readonly Call[]) {
  return figureAlone(Math.max(...calls.map(({ retries }) => retries)));
}

/** Checks that all acknowledged orders exist with their numbers, and that no number is missing. */
async function countOrders(databaseUrl: string, acknowledged: readonly Acknowledged[]): Promise<Row[]> {
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
    { name: "missing order numbers", unit: "", ...figureAlone(gaps), mark: { atMost: 0 } },
    { name: "orders placed twice", unit: "", ...figureAlone(twice), mark: { atMost: 0 } },
  ];
}

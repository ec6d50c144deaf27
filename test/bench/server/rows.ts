import { join } from "node:path";
import { type Comparison, comparePairs } from "../compare.ts";
import { createUsers, logInFor, trustLoopback } from "../logins.ts";
import { type Bench, type ComparedCost, compareLoads, type Side } from "../measure.ts";
import type { Running } from "../process.ts";
import type { Row } from "../report.ts";
import { assertSameAnswers } from "../same-answers.ts";
import { copyStore, namespaceQuery, startBodega } from "../store.ts";
import { compareCreates, compareOrders } from "../writes.ts";
import { fillDatabase, startWithDatabase } from "./copy.ts";
import { measureRoundTrips } from "./round-trips.ts";

const usersAtOnce = 32;

/**
 * One copy before a libSQL server on this machine (the column `bodega`), compared with the same executable on a file
 * (the column `bare`).
 */
export async function measureServer(bench: Bench, say: (text: string) => void): Promise<Row[]> {
  say("a libSQL server with the rows of the store");
  await fillDatabase(bench);
  const start = (side: Side, name: string) =>
    side === "bodega" ? startWithDatabase(bench, name) : startOnFile(bench, name);
  const rows = await compareServedReads(bench, start, say);
  say("create, copy beside file");
  const creates = await zeroIfItFails(perSecond(compareCreates(bench, { start })), say);
  say("order, copy beside file");
  const orders = await zeroIfItFails(perSecond(compareOrders(bench, { start })), say);
  say("log in, copy beside file");
  const logins = await zeroIfItFails(compareServedLogins(bench, start), say);
  rows.push(
    { name: "create, sqld (left) beside file", unit: "/s", ...creates, mark: { atLeast: 0.25 } },
    { name: "order, sqld (left) beside file", unit: "/s", ...orders, mark: { atLeast: 0.3 } },
    { name: "log in, sqld (left) beside file", unit: "/s", ...logins, mark: { atLeast: 0.8 } },
  );
  rows.push(...(await measureRoundTrips(bench, (name) => startOnFile(bench, name), say)));
  return rows;
}

/** A copy that refuses a write under load has the ratio 0, and the other rows are measured all the same. */
async function zeroIfItFails(measurement: Promise<Comparison>, say: (text: string) => void): Promise<Comparison> {
  try {
    return await measurement;
  } catch (error) {
    say(`failed: ${error instanceof Error ? error.message : error}`);
    return { ours: 0, bare: Number.NaN, ratio: 0 };
  }
}

async function perSecond(cost: Promise<ComparedCost>): Promise<Comparison> {
  return (await cost).perSecond;
}

type Start = (side: Side, name: string) => Promise<Running>;

function startOnFile({ binary, workDir, store }: Bench, name: string): Promise<Running> {
  const dir = join(workDir, `file-${name}`);
  copyStore(store.dataDir, dir);
  return startBodega(binary, dir, trustLoopback);
}

async function compareServedReads(bench: Bench, start: Start, say: (text: string) => void): Promise<Row[]> {
  const servers = { bodega: await start("bodega", "reads"), bare: await start("bare", "reads") };
  const compare = async (paths: string[]) => {
    const requests = paths.map((path) => ({ path }));
    await assertSameAnswers(servers, { bodega: paths, bare: paths }, bench.store.headers);
    return compareLoads(bench, servers, { bodega: requests, bare: requests });
  };
  say("get, copy beside file");
  const gets = await compare(bench.store.productIds.map((id) => `/products/${id}/${namespaceQuery}`));
  say("list, copy beside file");
  const lists = await compare([`/products/${namespaceQuery}`]);
  for (const server of Object.values(servers)) await server.stop();
  return [
    { name: "get, sqld (left) beside file", unit: "/s", ...gets.perSecond, mark: { atLeast: 0.4 } },
    { name: "list, sqld (left) beside file", unit: "/s", ...lists.perSecond, mark: { atLeast: 0.4 } },
    { name: "processor time per get, sqld included", unit: "µs", ...gets.processorUs, mark: { atMost: 150 } },
  ];
}

async function compareServedLogins(bench: Bench, start: Start): Promise<Comparison> {
  const servers = { bodega: await start("bodega", "logins"), bare: await start("bare", "logins") };
  const emails = {} as Record<Side, string[]>;
  for (const side of ["bodega", "bare"] as const) {
    emails[side] = await createUsers(bench, servers[side], usersAtOnce);
    await logInFor(servers[side], emails[side], 1);
  }
  const measure = (side: Side) => () => logInFor(servers[side], emails[side], bench.effort.seconds);
  const logins = await comparePairs(bench.effort.rounds, measure("bodega"), measure("bare"));
  for (const server of Object.values(servers)) await server.stop();
  return logins;
}

import { type Comparison, comparePairs } from "../compare.ts";
import { createUsers, logInFor } from "../logins.ts";
import { type Bench, type ComparedCost, type StartSide, startOnCopy } from "../measure.ts";
import type { Running } from "../process.ts";
import { compareSameReads } from "../reads.ts";
import type { Row } from "../report.ts";
import { namespaceQuery, trustLoopback } from "../store.ts";
import { compareCreates, compareOrders } from "../writes.ts";
import { fillDatabase, startWithDatabase } from "./copy.ts";
import { measureRoundTrips } from "./round-trips.ts";

/**
 * Compares a copy on a libSQL server on this machine (the column `bodega`) with the same executable on a file (the
 * column `bare`).
 */
export async function measureServer(bench: Bench): Promise<Row[]> {
  await fillDatabase(bench);
  const start: StartSide = (side, name) =>
    side === "bodega" ? startWithDatabase(bench, name) : startOnCopy(bench, `file-${name}`, trustLoopback);
  const perSecond = async (cost: Promise<ComparedCost>) => (await cost).perSecond;
  const rows = await compareServedReads(bench, start);
  const measured: [name: string, atLeast: number, measure: () => Promise<Comparison>][] = [
    ["create", 0.25, () => perSecond(compareCreates(bench, start))],
    ["order", 0.3, () => perSecond(compareOrders(bench, start))],
    ["log in", 0.8, () => compareServedLogins(bench, start)],
  ];
  for (const [name, atLeast, measure] of measured) {
    bench.say(`${name}, sqld beside file`);
    const figures = await measure().catch((error: Error) => {
      // A refused write under load gives its row the ratio 0, and the other rows are measured.
      bench.say(`failed: ${error.message}`);
      return { ours: 0, bare: Number.NaN, ratio: 0 };
    });
    rows.push({ name: `${name}, sqld (left) beside file`, unit: "/s", ...figures, mark: { atLeast } });
  }
  return [...rows, ...(await measureRoundTrips(bench))];
}

async function startBoth(start: StartSide, name: string): Promise<Record<"bodega" | "bare", Running>> {
  return { bodega: await start("bodega", name), bare: await start("bare", name) };
}

async function compareServedReads(bench: Bench, start: StartSide): Promise<Row[]> {
  const servers = await startBoth(start, "reads");
  const compare = (paths: string[]) => compareSameReads(bench, servers, { bodega: paths, bare: paths });
  bench.say("get and list, sqld beside file");
  const gets = await compare(bench.store.productIds.map((id) => `/products/${id}/${namespaceQuery}`));
  const lists = await compare([`/products/${namespaceQuery}`]);
  for (const server of Object.values(servers)) await server.stop();
  return [
    { name: "get, sqld (left) beside file", unit: "/s", ...gets.perSecond, mark: { atLeast: 0.4 } },
    { name: "list, sqld (left) beside file", unit: "/s", ...lists.perSecond, mark: { atLeast: 0.4 } },
    { name: "processor time per get, sqld included", unit: "µs", ...gets.processorUs, mark: { atMost: 150 } },
  ];
}

async function compareServedLogins(bench: Bench, start: StartSide): Promise<Comparison> {
  const servers = await startBoth(start, "logins");
  const prepare = async (server: Running) => {
    const emails = await createUsers(bench, server, 32);
    await logInFor(server, emails, 1);
    return () => logInFor(server, emails, bench.effort.seconds);
  };
  const measureOurs = await prepare(servers.bodega);
  const logins = await comparePairs(bench.effort.rounds, measureOurs, await prepare(servers.bare));
  for (const server of Object.values(servers)) await server.stop();
  return logins;
}

import { isDeepStrictEqual } from "node:util";
import { compareOnce, comparePairs } from "./compare.ts";
import { type Bench, type ComparedCost, compareLoads, describeLoad, type Side, startSide } from "./measure.ts";
import type { Running } from "./process.ts";
import type { Row } from "./report.ts";
import { call, findPage, namespaceQuery } from "./store.ts";

const list = `/products/${namespaceQuery}`;
const ofSomePrices = "&price[gte]=100&price[lt]=300&sort=price";

/** Measures the milliseconds from the start of the process to its first reply, on an existing data directory. */
export async function measureStarts(bench: Bench): Promise<Row[]> {
  const name = "start to first answer";
  bench.say(name);
  const measure = (side: Side) => async (round: number) => {
    const server = await startSide(bench, side, `start-${round}`);
    await server.stop();
    return server.readyMs;
  };
  const times = await comparePairs(bench.effort.starts, measure("bodega"), measure("bare"));
  return [{ name, unit: "ms", ...times, mark: { atMost: 50 } }];
}

/** Compares reads with the bare side, which sends the stored text, or builds each document from its columns. */
export async function measureReads(bench: Bench): Promise<Row[]> {
  const servers = { bodega: await startSide(bench, "bodega", "reads"), bare: await startSide(bench, "bare", "reads") };
  bench.say("idle memory");
  await Bun.sleep(bench.effort.idleSeconds * 1000);
  const idle = compareOnce(servers.bodega.memory(), servers.bare.memory());
  const rows: Row[] = [{ name: "idle memory", unit: "MiB", ...idle, mark: { atMost: 62 } }];
  for (const { name, atMost, coding, ...paths } of await describeReads(bench, servers.bodega)) {
    bench.say(name);
    rows.push(...describeLoad(name, await compareSameReads(bench, servers, paths, coding), atMost));
  }
  for (const server of Object.values(servers)) await server.stop();
  return rows;
}

interface Read extends Record<Side, string[]> {
  name: string;
  /** The allowed multiple of the bare side's processor time. Without it, the row has no target. */
  atMost?: number;
  /** The coding that the client accepts. Only Bodega compresses. */
  coding?: "gzip" | "zstd";
}

async function describeReads({ store }: Bench, server: Running): Promise<Read[]> {
  const one = store.productIds.map((id) => `/products/${id}/${namespaceQuery}`);
  const { path, before } = await findPage(server, store.headers, "", 40);
  const later = `/columns/later/${namespaceQuery}&at=${encodeURIComponent(before.created_at)}&id=${before.id}`;
  return [
    { name: "get a product", bodega: one, bare: one, atMost: 2.4 },
    { name: "list 20 products", bodega: [list], bare: [list], atMost: 1 },
    { name: "list, gzip, bare sends it plain", bodega: [list], bare: [list], atMost: 1, coding: "gzip" },
    { name: "list, zstd, bare sends it plain", bodega: [list], bare: [list], atMost: 1, coding: "zstd" },
    { name: "list, bare builds from columns", bodega: [list], bare: [`/columns${list}`], atMost: 0.95 },
    {
      name: "price range by price, bare builds from columns",
      bodega: [list + ofSomePrices],
      bare: [`/columns/priced/${namespaceQuery}&from=10000&to=30000`],
      atMost: 1.1,
    },
    { name: "page 40, bare builds from columns", bodega: [path], bare: [later], atMost: 1.05 },
  ];
}

/** Compares reads of paths. The first path must return the same document on both sides. */
export async function compareSameReads(
  bench: Bench,
  servers: Record<Side, Running>,
  paths: Record<Side, string[]>,
  coding = "identity",
): Promise<ComparedCost> {
  const headers = { ...bench.store.headers, "Accept-Encoding": coding };
  const read = async (side: Side) => (await call(servers[side], paths[side][0] as string, headers)).data;
  const [ours, bare] = await Promise.all([read("bodega"), read("bare")]);
  if (!isDeepStrictEqual(ours, bare)) throw new Error(`The two sides differ at ${paths.bodega[0]}.`);
  const toRequests = (side: Side) => paths[side].map((path) => ({ path }));
  return compareLoads({ ...bench, store: { ...bench.store, headers } }, servers, {
    bodega: toRequests("bodega"),
    bare: toRequests("bare"),
  });
}

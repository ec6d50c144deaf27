import { compareFigures, compareOnce } from "./compare.ts";
import type { Request } from "./load.ts";
import { type Bench, compareLoads, describeLoad, measureLoad, type Side, startSide } from "./measure.ts";
import type { Running } from "./process.ts";
import type { Row } from "./report.ts";
import { assertSameAnswers } from "./same-answers.ts";
import { namespaceQuery } from "./store.ts";

const list = `/products/${namespaceQuery}`;
const ofSomePrices = "&price[gte]=100&price[lt]=300&sort=price";
const pageNumber = 40;

/** Ways to ask for the same list. */
const listForms: [name: string, headers: Record<string, string>][] = [
  ["list in zstd (left) and uncompressed", { "accept-encoding": "zstd" }],
  ["list in gzip (left) and uncompressed", { "accept-encoding": "gzip" }],
  ["list unchanged, 304 (left) and read", { "if-none-match": "*" }],
];

/** Reads compared with the bare side: `reads` passes on the stored text there, `columns` builds each document. */
export async function measureReads(
  bench: Bench,
  wanted: ReadonlySet<string>,
  onLoaded: (side: Side, server: Running) => void,
  say: (text: string) => void,
): Promise<Row[]> {
  const rows: Row[] = [];
  const servers = { bodega: await startSide(bench, "bodega", "reads"), bare: await startSide(bench, "bare", "reads") };
  if (wanted.has("reads")) {
    say("idle memory");
    await Bun.sleep(bench.effort.idleSeconds * 1000);
    const idle = compareOnce(servers.bodega.memory(), servers.bare.memory());
    rows.push({ name: "idle memory", unit: "MiB", ...idle, mark: { atMost: 60 } });
  }
  for (const { part, name, atMost, ...paths } of await describeReads(bench, servers)) {
    if (!wanted.has(part)) continue;
    say(name);
    await assertSameAnswers(servers, paths, bench.store.headers);
    const requests = { bodega: toRequests(paths.bodega), bare: toRequests(paths.bare) };
    rows.push(...describeLoad(name, await compareLoads(bench, servers, requests), atMost));
  }
  for (const [name, headers] of wanted.has("reads") ? listForms : []) {
    say(name);
    rows.push(await compareForms(bench, servers.bodega, name, headers));
  }
  for (const side of ["bodega", "bare"] as const) {
    onLoaded(side, servers[side]);
    await servers[side].stop();
  }
  return rows;
}

interface Read extends Record<Side, string[]> {
  part: "reads" | "columns";
  name: string;
  /** How many times the processor time of the bare side it may take; without it the row only informs. */
  atMost?: number;
}

async function describeReads(bench: Bench, servers: Record<Side, Running>): Promise<Read[]> {
  const one = bench.store.productIds.map((id) => `/products/${id}/${namespaceQuery}`);
  const later = await findPage(servers.bodega, bench.store.headers);
  const columns = (path: string) => `/columns${path}`;
  return [
    { part: "reads", name: "get a product", bodega: one, bare: one, atMost: 1.3 },
    { part: "reads", name: "list 20 products", bodega: [list], bare: [list] },
    { part: "columns", name: "get, bare builds from columns", bodega: one, bare: one.map(columns) },
    { part: "columns", name: "list, bare builds from columns", bodega: [list], bare: [columns(list)], atMost: 0.95 },
    {
      part: "columns",
      name: "price range by price, bare builds from columns",
      bodega: [list + ofSomePrices],
      bare: [`/columns/priced/${namespaceQuery}&from=10000&to=30000`],
      atMost: 1.1,
    },
    {
      part: "columns",
      name: `page ${pageNumber}, bare builds from columns`,
      bodega: [later.path],
      bare: [`/columns/later/${namespaceQuery}&at=${later.at}&id=${later.id}`],
      atMost: 1.05,
    },
  ];
}

/** The path of a later page, and the time and id of the product before it. */
async function findPage({ url }: Running, headers: Record<string, string>) {
  let path = list;
  let before = { created_at: "", id: "" };
  for (let number = 1; number < pageNumber; number++) {
    const reply = await fetch(url + path, { headers });
    const { data, page } = (await reply.json()) as { data: (typeof before)[]; page: { next_cursor: string } };
    before = data.at(-1) ?? before;
    path = `${list}&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  return { path, at: encodeURIComponent(before.created_at), id: before.id };
}

function toRequests(paths: readonly string[]): Request[] {
  return paths.map((path) => ({ path }));
}

/** Our list with these headers, beside the one without them. */
async function compareForms(bench: Bench, server: Running, name: string, more: Record<string, string>): Promise<Row> {
  const { headers } = bench.store;
  const measure = (own: Record<string, string>) => () => measureLoad(bench, server, [{ path: list }], { headers: own });
  const { perSecond } = await compareFigures(bench.effort.rounds, measure({ ...headers, ...more }), measure(headers));
  return { name, unit: "/s", ...perSecond };
}

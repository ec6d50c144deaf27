import { compareBackups } from "./backup.ts";
import { compareOnce } from "./compare.ts";
import { compareLikes, compareViews } from "./content.ts";
import { compareCosts } from "./content-cost.ts";
import { measureLog } from "./log.ts";
import { compareLogins } from "./logins.ts";
import {
  type Bench,
  compareCommands,
  compareCreates,
  compareHeaders,
  compareOrders,
  compareReads,
  compareStarts,
  type Side,
  startSide,
} from "./measure.ts";
import type { Running } from "./process.ts";
import type { Row } from "./report.ts";
import { assertSameAnswers } from "./same-answers.ts";
import { measureScale } from "./scale.ts";
import { runDrill } from "./server/drill.ts";
import { measureServer } from "./server/rows.ts";
import { measureStalls } from "./stalls.ts";
import { namespaceQuery } from "./store.ts";

/** The parts that can be measured separately. */
export const parts = [
  "start",
  "commands",
  "reads",
  "columns",
  "writes",
  "orders",
  "log",
  "content",
  "logins",
  "stalls",
  "backup",
  "scale",
  "server",
  "drill",
] as const;
export type Part = (typeof parts)[number];
/** Parts that are measured on request only, because each takes minutes. */
export const rareParts: ReadonlySet<Part> = new Set(["scale", "server", "drill"]);
/** The programs that some parts need. */
export const tools: Record<string, ReadonlySet<Part>> = {
  wrk: new Set(["reads", "columns", "writes", "orders", "content", "server"]),
  haproxy: new Set(["drill"]),
};

/** Highest memory seen of each side, in MiB. */
type Memory = Record<Side, number>;

/**
 * Measures the parts asked for, in the order of the table.
 * @param say receives the name of each part.
 */
export async function measureRows(
  bench: Bench,
  wanted: ReadonlySet<Part>,
  say: (text: string) => void,
): Promise<Row[]> {
  const rows: Row[] = [];
  const loaded: Memory = { bodega: 0, bare: 0 };
  const onLoaded = (side: Side, server: Running) => note(loaded, side, server);
  if (wanted.has("start")) {
    say("start to first answer");
    rows.push({ name: "start to first answer", unit: "ms", ...(await compareStarts(bench)), mark: { atMost: 150 } });
  }
  if (wanted.has("commands")) rows.push(...(await measureCommands(bench, say)));
  if (wanted.has("reads") || wanted.has("columns")) rows.push(...(await measureReads(bench, wanted, loaded, say)));
  if (wanted.has("writes")) {
    say("create a product");
    const creates = await compareCreates(bench, { onLoaded });
    rows.push({ name: "create a product", unit: "/s", ...creates, mark: { atLeast: 1.5 } });
  }
  if (wanted.has("orders")) {
    say("create an order");
    const orders = await compareOrders(bench, { onLoaded });
    rows.push({ name: "create an order", unit: "/s", ...orders, mark: { atLeast: 0.5 } });
  }
  if (wanted.has("log")) rows.push(...(await measureLog(bench, say)));
  if (wanted.has("content")) rows.push(...(await measureContent(bench, loaded, say)));
  if (wanted.has("logins")) {
    say("log in");
    const { logins, readsP99 } = await compareLogins(bench);
    rows.push({ name: "log in, 16 at once", unit: "/s", ...logins, mark: { atLeast: 0.9 } });
    rows.push({ name: "get a product meanwhile, p99", unit: "ms", ...readsP99, mark: { atMost: 20 } });
  }
  if (wanted.has("stalls")) rows.push(...(await measureStalls(bench, say)));
  if (wanted.has("backup")) {
    say("calls beside a backup");
    const calls = await compareBackups(bench);
    rows.push({ name: "calls beside backups (left) and without, p99", unit: "ms", ...calls, mark: { ratioAtMost: 2 } });
  }
  if (wanted.has("scale")) rows.push(...(await measureScale(bench, say)));
  if (wanted.has("server")) rows.push(...(await measureServer(bench, say)));
  if (wanted.has("drill")) rows.push(...(await runDrill(bench, say)));
  if (loaded.bodega > 0) rows.push({ name: "loaded memory", unit: "MiB", ...compareOnce(loaded.bodega, loaded.bare) });
  return rows;
}

async function measureContent(bench: Bench, loaded: Memory, say: (text: string) => void): Promise<Row[]> {
  const onLoaded = (side: Side, server: Running) => note(loaded, side, server);
  say("like a product");
  const likes = await compareLikes(bench, onLoaded);
  say("view a product");
  const views = await compareViews(bench, onLoaded);
  say("a view beside a like");
  const costs = await compareCosts(bench);
  return [
    { name: "like a product", unit: "/s", ...likes },
    { name: "view a product", unit: "/s", ...views },
    { name: "a view (left) beside a like", unit: "µs", ...costs, mark: { ratioAtMost: 0.1 } },
  ];
}

async function measureCommands(bench: Bench, say: (text: string) => void): Promise<Row[]> {
  const rows: Row[] = [];
  for (const verb of [["version"], ["tenant", "list"]]) {
    const name = `bodega ${verb.join(" ")}`;
    say(name);
    const comparison = await compareCommands(bench, [...verb, "--data-dir", bench.store.dataDir]);
    rows.push({ name, unit: "ms", ...comparison, mark: { atMost: 60 } });
  }
  return rows;
}

/** Ways to ask for the same list. */
const listForms: [name: string, headers: Record<string, string>][] = [
  ["list in zstd (left) and uncompressed", { "accept-encoding": "zstd" }],
  ["list in gzip (left) and uncompressed", { "accept-encoding": "gzip" }],
  ["list unchanged, 304 (left) and read", { "if-none-match": "*" }],
];

async function measureReads(
  bench: Bench,
  wanted: ReadonlySet<Part>,
  loaded: Memory,
  say: (text: string) => void,
): Promise<Row[]> {
  const rows: Row[] = [];
  const servers = { bodega: await startSide(bench, "bodega", "reads"), bare: await startSide(bench, "bare", "reads") };
  if (wanted.has("reads")) {
    say("idle memory");
    await Bun.sleep(bench.effort.idleSeconds * 1000);
    const idle = compareOnce(servers.bodega.memory(), servers.bare.memory());
    rows.push({ name: "idle memory", unit: "MiB", ...idle, mark: { atMost: 80 } });
  }
  const one = bench.store.productIds.map((id) => `/products/${id}/${namespaceQuery}`);
  const list = [`/products/${namespaceQuery}`];
  const kinds = [
    { part: "reads", name: "get a product", prefix: "", paths: one, mark: { atLeast: 0.6 } },
    { part: "reads", name: "list 20 products", prefix: "", paths: list, mark: { atLeast: 0.75 } },
    { part: "columns", name: "get, bare builds from columns", prefix: "/columns", paths: one },
    { part: "columns", name: "list, bare builds from columns", prefix: "/columns", paths: list },
  ] as const;
  for (const { part, prefix, paths, ...row } of kinds) {
    if (!wanted.has(part)) continue;
    say(row.name);
    const both = { bodega: paths, bare: paths.map((path) => prefix + path) };
    await assertSameAnswers(servers, both, bench.store.headers);
    rows.push({ ...row, unit: "/s", ...(await compareReads(bench, servers, both)) });
  }
  const [listed] = list as [string];
  for (const [name, headers] of wanted.has("reads") ? listForms : []) {
    say(name);
    rows.push({ name, unit: "/s", ...(await compareHeaders(bench, servers.bodega, listed, headers)) });
  }
  for (const side of ["bodega", "bare"] as const) {
    note(loaded, side, servers[side]);
    await servers[side].stop();
  }
  return rows;
}

function note(memory: Memory, side: Side, server: Running): void {
  memory[side] = Math.max(memory[side], server.memory());
}

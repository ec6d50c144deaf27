import { compareBackups, compareReplication } from "./backup.ts";
import { compareOnce } from "./compare.ts";
import { compareLikes, compareViews } from "./content.ts";
import { compareCosts } from "./content-cost.ts";
import { measureLog } from "./log.ts";
import { compareLogins } from "./logins.ts";
import { type Bench, compareCommands, compareStarts, describeLoad, type Side } from "./measure.ts";
import type { Running } from "./process.ts";
import { measureReads } from "./reads.ts";
import type { Row } from "./report.ts";
import { measureScale } from "./scale.ts";
import { runDrill } from "./server/drill.ts";
import { measureServer } from "./server/rows.ts";
import { measureStalls } from "./stalls.ts";
import { compareOrders, measureWorkers, measureWrites } from "./writes.ts";

/** The parts that can be measured separately. */
export const parts = [
  "start",
  "commands",
  "reads",
  "columns",
  "writes",
  "orders",
  "workers",
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
  wrk: new Set(["reads", "columns", "writes", "orders", "workers", "content", "server"]),
  haproxy: new Set(["drill"]),
};

/** Highest memory seen of each side, in MiB. */
type Memory = Record<Side, number>;

/**
 * Measures the parts asked for, in the order of the table.
 * @param rows receives each row as soon as it is measured.
 * @param say receives the name of each part.
 */
export async function measureRows(
  bench: Bench,
  wanted: ReadonlySet<Part>,
  rows: Row[],
  say: (text: string) => void,
): Promise<void> {
  const loaded: Memory = { bodega: 0, bare: 0 };
  const onLoaded = (side: Side, server: Running) => note(loaded, side, server);
  if (wanted.has("start")) {
    say("start to first answer");
    rows.push({ name: "start to first answer", unit: "ms", ...(await compareStarts(bench)), mark: { atMost: 45 } });
  }
  if (wanted.has("commands")) rows.push(...(await measureCommands(bench, say)));
  if (wanted.has("reads") || wanted.has("columns")) rows.push(...(await measureReads(bench, wanted, onLoaded, say)));
  if (wanted.has("writes")) rows.push(...(await measureWrites(bench, { onLoaded }, say)));
  if (wanted.has("orders")) {
    say("create an order");
    rows.push(...describeLoad("create an order", await compareOrders(bench, { onLoaded })));
  }
  if (wanted.has("workers")) rows.push(...(await measureWorkers(bench, say)));
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
    const unit = "ms";
    say("calls beside a backup");
    const beside = await compareBackups(bench);
    rows.push({ name: "calls beside backups (left) and without, p99", unit, ...beside, mark: { ratioAtMost: 2 } });
    say("calls beside replication");
    const replicated = await compareReplication(bench);
    rows.push({
      name: "calls beside replication (left) and without, p99",
      unit,
      ...replicated,
      mark: { ratioAtMost: 1.2 },
    });
  }
  if (wanted.has("scale")) rows.push(...(await measureScale(bench, say)));
  if (wanted.has("server")) rows.push(...(await measureServer(bench, say)));
  if (wanted.has("drill")) rows.push(...(await runDrill(bench, say)));
  if (loaded.bodega > 0) rows.push({ name: "loaded memory", unit: "MiB", ...compareOnce(loaded.bodega, loaded.bare) });
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
    ...describeLoad("like a product", likes),
    ...describeLoad("view a product", views),
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

function note(memory: Memory, side: Side, server: Running): void {
  memory[side] = Math.max(memory[side], server.memory());
}

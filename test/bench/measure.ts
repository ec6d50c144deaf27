import { join } from "node:path";
import { type Comparison, compareFigures } from "./compare.ts";
import { type Answered, type Request, runLoad } from "./load.ts";
import { findPort, type Running, startServer } from "./process.ts";
import type { Row } from "./report.ts";
import { copyStore, type Store, startBodega } from "./store.ts";

/** How long and how often to measure. */
export interface Effort {
  rounds: number;
  seconds: number;
  starts: number;
  idleSeconds: number;
}

/** The tools and the data of a measurement of both sides. */
export interface Bench {
  workDir: string;
  binary: string;
  bareBinary: string;
  /** Servers work on copies of this directory. */
  store: Store;
  effort: Effort;
  /** Prints what is being measured. */
  say: (text: string) => void;
}

export type Side = "bodega" | "bare";
export type StartSide = (side: Side, copy: string) => Promise<Running>;

/** Starts the executable on a copy of the store, in a directory of this name. */
export function startOnCopy({ binary, workDir, store }: Bench, name: string, flags: readonly string[] = []) {
  const dir = join(workDir, name);
  copyStore(store.dataDir, dir);
  return startBodega(binary, dir, flags);
}

/** Starts one of the sides on its own copy of the store. */
export async function startSide(bench: Bench, side: Side, copy: string): Promise<Running> {
  const name = `${copy}-${side}`;
  if (side === "bodega") return startOnCopy(bench, name);
  const dir = join(bench.workDir, name);
  copyStore(bench.store.dataDir, dir);
  const port = await findPort();
  const command = [bench.bareBinary, join(dir, "bodega.db"), String(port)];
  return startServer(command, `http://127.0.0.1:${port}`, join(dir, "bare.log"));
}

/** The figures of a load, and the processor time per request. */
type Cost = Record<keyof Omit<Answered, "count"> | "processorUs", number>;
export type ComparedCost = Record<keyof Cost, Comparison>;

/** Loads a server for some seconds. Measures its replies and its processor time. */
async function measureLoad(
  { workDir, store: { headers } }: Bench,
  server: Running,
  requests: readonly Request[],
  { seconds, connections }: { seconds: number; connections: number },
): Promise<Cost> {
  const before = server.processorMs();
  const load = { url: server.url, headers, seconds, requests, connections };
  const { count, perSecond, p99Ms } = await runLoad(workDir, load);
  return { perSecond, processorUs: ((server.processorMs() - before) * 1000) / count, p99Ms };
}

/**
 * Compares loads of two running servers. The first second, in which code is compiled and caches are filled, is not
 * counted.
 */
export async function compareLoads(
  bench: Bench,
  servers: Record<Side, Running>,
  requests: Record<Side, readonly Request[]>,
): Promise<ComparedCost> {
  const { rounds, seconds } = bench.effort;
  const measure = (side: Side, length = seconds) =>
    measureLoad(bench, servers[side], requests[side], { seconds: length, connections: 32 });
  await measure("bodega", 1);
  await measure("bare", 1);
  return compareFigures(
    rounds,
    () => measure("bodega"),
    () => measure("bare"),
  );
}

/** Compares loads of servers that start on a new copy of the store in each round. The first second is not counted. */
export function compareFresh(
  bench: Bench,
  name: string,
  requests: readonly Request[],
  { start = (side, copy) => startSide(bench, side, copy), connections = 32 }: FreshOptions = {},
): Promise<ComparedCost> {
  const { rounds, seconds } = bench.effort;
  const measure = (side: Side) => async (round: number) => {
    const server = await start(side, `${name}-${round}`);
    await measureLoad(bench, server, requests, { seconds: 1, connections });
    const cost = await measureLoad(bench, server, requests, { seconds, connections });
    await server.stop();
    return cost;
  };
  return compareFigures(rounds, measure("bodega"), measure("bare"));
}

interface FreshOptions {
  start?: StartSide;
  connections?: number;
}

/**
 * Returns the rows of a load: its throughput and its processor time.
 * @param ratioAtMost how many times the other side's processor time is allowed.
 */
export function describeLoad(name: string, { perSecond, processorUs }: ComparedCost, ratioAtMost?: number): Row[] {
  const mark = ratioAtMost === undefined ? {} : { mark: { ratioAtMost } };
  return [
    { name, unit: "/s", ...perSecond },
    { name: `${name}: processor time`, unit: "µs", ...processorUs, ...mark },
  ];
}

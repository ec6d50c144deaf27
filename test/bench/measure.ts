import { join } from "node:path";
import { type Comparison, compareFigures } from "./compare.ts";
import { type Answered, type Request, runLoad } from "./load.ts";
import { findPort, type Running, startServer } from "./process.ts";
import type { Row } from "./report.ts";
import { copyStore, type Store, startBodega } from "./store.ts";

/** How long and how often. */
export interface Effort {
  rounds: number;
  seconds: number;
  starts: number;
  idleSeconds: number;
}

/** The tools and data of a measurement, for both sides. */
export interface Bench {
  workDir: string;
  binary: string;
  bareBinary: string;
  /** Never served itself: each server works on a copy. */
  store: Store;
  effort: Effort;
  /** Tells what is being measured. */
  say: (text: string) => void;
}

export type Side = "bodega" | "bare";
export type StartSide = (side: Side, copy: string) => Promise<Running>;

/** Starts the executable on a copy of the store, in this directory below the working directory. */
export function startOnCopy({ binary, workDir, store }: Bench, name: string, flags: readonly string[] = []) {
  const dir = join(workDir, name);
  copyStore(store.dataDir, dir);
  return startBodega(binary, dir, flags);
}

/** Starts either side on a copy of the store of its own. */
export async function startSide(bench: Bench, side: Side, copy: string): Promise<Running> {
  const name = `${copy}-${side}`;
  if (side === "bodega") return startOnCopy(bench, name);
  const dir = join(bench.workDir, name);
  copyStore(bench.store.dataDir, dir);
  const port = await findPort();
  const command = [bench.bareBinary, join(dir, "bodega.db"), String(port)];
  return startServer(command, `http://127.0.0.1:${port}`, join(dir, "bare.log"));
}

/** The figures of a load, with the processor time of one request. */
type Cost = Record<keyof Omit<Answered, "count"> | "processorUs", number>;
export type ComparedCost = Record<keyof Cost, Comparison>;

/** Loads a server for some seconds and measures what that costs it. */
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

/** Compares loads of two running servers, after a second not counted, in which code is compiled and caches are filled. */
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

/** Compares loads of servers that are started on a fresh copy of the store in each round, after a second not counted. */
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

/** The rows of a load: its throughput, and its processor time, which may be this many times the other side's. */
export function describeLoad(name: string, { perSecond, processorUs }: ComparedCost, ratioAtMost?: number): Row[] {
  const mark = ratioAtMost === undefined ? {} : { mark: { ratioAtMost } };
  return [
    { name, unit: "/s", ...perSecond },
    { name: `${name}: processor time`, unit: "µs", ...processorUs, ...mark },
  ];
}

import { join } from "node:path";
import { type Comparison, compareFigures, comparePairs } from "./compare.ts";
import { type Request, runLoad } from "./load.ts";
import { findPort, type Running, runCommand, startServer } from "./process.ts";
import type { Row } from "./report.ts";
import { copyStore, type Store, startBodega } from "./store.ts";

/** How long and how often. */
export interface Effort {
  rounds: number;
  seconds: number;
  starts: number;
  commands: number;
  idleSeconds: number;
}

export const fullEffort: Effort = { rounds: 5, seconds: 4, starts: 9, commands: 15, idleSeconds: 10 };
export const quickEffort: Effort = { rounds: 3, seconds: 1, starts: 3, commands: 5, idleSeconds: 2 };

/** The tools and data of a measurement, for both sides. */
export interface Bench {
  workDir: string;
  binary: string;
  bareBinary: string;
  helloBinary: string;
  /** Never served itself: each server works on a copy. */
  store: Store;
  effort: Effort;
}

export type Side = "bodega" | "bare";

/** Starts either side on a copy of the store of its own, kept under the name `copy`. */
export async function startSide(bench: Bench, side: Side, copy: string): Promise<Running> {
  const dir = join(bench.workDir, `${copy}-${side}`);
  copyStore(bench.store.dataDir, dir);
  if (side === "bodega") return startBodega(bench.binary, dir);
  const port = await findPort();
  const command = [bench.bareBinary, join(dir, "bodega.db"), String(port)];
  return startServer(command, `http://127.0.0.1:${port}`, "/health/live", join(dir, "bare.log"));
}

/** The figures of a load: requests answered a second, processor time of one, the time that 99 in 100 did not exceed. */
export type Cost = Record<"perSecond" | "processorUs" | "p99Ms", number>;
/** Those of both sides. */
export type ComparedCost = Record<keyof Cost, Comparison>;

/** Differences between loads. */
interface LoadOptions {
  /** By default, as long as the effort says. */
  seconds?: number;
  connections?: number;
  /** By default the store's key. */
  headers?: Record<string, string>;
}

/** Loads a server and measures what that costs it. */
export async function measureLoad(
  { workDir, store, effort }: Bench,
  server: Running,
  requests: readonly Request[],
  { seconds = effort.seconds, connections, headers = store.headers }: LoadOptions = {},
): Promise<Cost> {
  const before = server.processorMs();
  const load = { url: server.url, headers, seconds, requests, ...(connections && { connections }) };
  const { count, perSecond, p99Ms } = await runLoad(workDir, load);
  return { perSecond, processorUs: ((server.processorMs() - before) * 1000) / count, p99Ms };
}

/** Compares loads of two running servers, after a second not counted, in which code is compiled and caches are filled. */
export async function compareLoads(
  bench: Bench,
  servers: Record<Side, Running>,
  requests: Record<Side, readonly Request[]>,
  options: LoadOptions = {},
): Promise<ComparedCost> {
  const measure = (side: Side, seconds = bench.effort.seconds) =>
    measureLoad(bench, servers[side], requests[side], { ...options, seconds });
  await measure("bodega", 1);
  await measure("bare", 1);
  return compareFigures(
    bench.effort.rounds,
    () => measure("bodega"),
    () => measure("bare"),
  );
}

/** How the servers of writes are started and loaded, and what is called with each of them after its load. */
export interface FreshOptions extends LoadOptions {
  start?: (side: Side, copy: string) => Promise<Running>;
  onLoaded?: (side: Side, server: Running) => void;
}

/** Compares loads of servers that are started on a fresh copy of the store in each round, after a second not counted. */
export function compareFresh(
  bench: Bench,
  name: string,
  prepare: (side: Side, server: Running) => readonly Request[] | Promise<readonly Request[]>,
  { start = (side, copy) => startSide(bench, side, copy), onLoaded, ...options }: FreshOptions = {},
): Promise<ComparedCost> {
  const measure = (side: Side) => async (round: number) => {
    const server = await start(side, `${name}-${round}`);
    const requests = await prepare(side, server);
    await measureLoad(bench, server, requests, { ...options, seconds: 1 });
    const cost = await measureLoad(bench, server, requests, options);
    onLoaded?.(side, server);
    await server.stop();
    return cost;
  };
  return compareFigures(bench.effort.rounds, measure("bodega"), measure("bare"));
}

/** The rows of a load: its throughput, and its processor time, which may be this many times the other side's. */
export function describeLoad(name: string, { perSecond, processorUs }: ComparedCost, atMost?: number): Row[] {
  const mark = atMost === undefined ? {} : { mark: { ratioAtMost: atMost } };
  return [
    { name, unit: "/s", ...perSecond },
    { name: `${name}: processor time`, unit: "µs", ...processorUs, ...mark },
  ];
}

/** Milliseconds from the start of the process to its first answer, on a data directory that exists. */
export function compareStarts(bench: Bench): Promise<Comparison> {
  const measure = (side: Side) => async (round: number) => {
    const server = await startSide(bench, side, `start-${round}`);
    await server.stop();
    return server.readyMs;
  };
  return comparePairs(bench.effort.starts, measure("bodega"), measure("bare"));
}

/** Milliseconds of a command, compared with a compiled program that prints one line. */
export function compareCommands(bench: Bench, args: string[]): Promise<Comparison> {
  return comparePairs(
    bench.effort.commands,
    () => runCommand([bench.binary, ...args]),
    () => runCommand([bench.helloBinary]),
  );
}

import { join } from "node:path";
import { type Comparison, comparePairs } from "./compare.ts";
import { runLoad, type Send } from "./load.ts";
import { findPort, type Running, runCommand, startServer } from "./process.ts";
import { copyStore, namespaceQuery, type Store, sampleProduct, startBodega } from "./store.ts";

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

/** Reads a second, after a second that is not counted, in which code is compiled and caches are filled. */
export async function compareReads(
  bench: Bench,
  servers: Record<Side, Running>,
  paths: Record<Side, string[]>,
): Promise<Comparison> {
  const measure = (side: Side, seconds?: number) => load(bench, servers[side], { paths: paths[side] }, seconds);
  await measure("bodega", 1);
  await measure("bare", 1);
  return comparePairs(
    bench.effort.rounds,
    () => measure("bodega"),
    () => measure("bare"),
  );
}

/** Reads a second of our server with these headers, beside those without them. */
export function compareHeaders(bench: Bench, server: Running, path: string, headers: Record<string, string>) {
  const { seconds, rounds } = bench.effort;
  const measure = (more: Record<string, string>) => () =>
    runLoad(bench.workDir, {
      url: server.url,
      headers: { ...bench.store.headers, ...more },
      seconds,
      send: { paths: [path] },
    });
  return comparePairs(rounds, measure(headers), measure({}));
}

/** How the servers of writes are started, and what is called with each of them after its load. */
interface WriteHooks {
  start?: (side: Side, copy: string) => Promise<Running>;
  onLoaded?: (side: Side, server: Running) => void;
}

/** Products created a second. */
export function compareCreates(bench: Bench, hooks: WriteHooks): Promise<Comparison> {
  const send = { path: `/products/${namespaceQuery}`, body: sampleProduct("new-@@@@@@@@") };
  return compareWrites(bench, "create", send, hooks);
}

/** Orders created a second, all of the same product, so that they contend for its stock. */
export function compareOrders(bench: Bench, hooks: WriteHooks): Promise<Comparison> {
  return compareWrites(bench, "order", { path: `/orders/${namespaceQuery}`, body: orderBody(bench.store) }, hooks);
}

/** The body of an order of one piece of the product that no load sells out. */
export function orderBody({ plentifulId }: Store, note?: string): string {
  return JSON.stringify({ items: [{ product_id: plentifulId, quantity: 1 }], ...(note !== undefined && { note }) });
}

/** Writes a second, each round on a fresh copy of the store. */
function compareWrites(bench: Bench, name: string, send: Send, hooks: WriteHooks): Promise<Comparison> {
  const start = hooks.start ?? ((side, copy) => startSide(bench, side, copy));
  const measure = (side: Side) => async (round: number) => {
    const server = await start(side, `${name}-${round}`);
    const perSecond = await load(bench, server, send);
    hooks.onLoaded?.(side, server);
    await server.stop();
    return perSecond;
  };
  return comparePairs(bench.effort.rounds, measure("bodega"), measure("bare"));
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

/** Requests a second of 32 connections, for so many seconds. */
export function load({ workDir, store, effort }: Bench, { url }: Running, send: Send, seconds = effort.seconds) {
  return runLoad(workDir, { url, headers: store.headers, seconds, send });
}

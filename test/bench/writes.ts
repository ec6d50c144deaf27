import { join } from "node:path";
import { type Comparison, comparePairs } from "./compare.ts";
import type { Request } from "./load.ts";
import {
  type Bench,
  type ComparedCost,
  compareFresh,
  describeLoad,
  type FreshOptions,
  measureLoad,
} from "./measure.ts";
import type { Row } from "./report.ts";
import { copyStore, namespaceQuery, type Store, sampleProduct, startBodega } from "./store.ts";

/** The body of an order of one piece of the product that no load sells out. */
export function orderBody({ plentifulId }: Store, note?: string): string {
  return JSON.stringify({ items: [{ product_id: plentifulId, quantity: 1 }], ...(note !== undefined && { note }) });
}

const createProduct: Request = {
  method: "POST",
  path: `/products/${namespaceQuery}`,
  body: sampleProduct("new-@@@@@@@@"),
};

/** Each product of the store. */
export function readProducts({ productIds }: Store): Request[] {
  return productIds.map((id) => ({ path: `/products/${id}/${namespaceQuery}` }));
}

/** New prices, each of another product. */
export function patchProducts(store: Store): Request[] {
  return readProducts(store).map(({ path }) => ({ method: "PATCH", path, body: '{"price":1@@@@@@@@}' }));
}

/** Of ten requests eight read a product, one creates one, and one changes one. */
export function mixProducts(reads: readonly Request[], patches: readonly Request[], create: Request): Request[] {
  return reads.map((read, index) => (index % 10 === 4 ? create : index % 10 === 9 ? (patches[index] ?? read) : read));
}

/** Products created. */
export function compareCreates(bench: Bench, options: FreshOptions): Promise<ComparedCost> {
  return compareFresh(bench, "create", () => [createProduct], options);
}

/** Orders created, all of the same product, so that they contend for its stock. */
export function compareOrders(bench: Bench, options: FreshOptions): Promise<ComparedCost> {
  const order: Request = { method: "POST", path: `/orders/${namespaceQuery}`, body: orderBody(bench.store) };
  return compareFresh(bench, "order", () => [order], options);
}

/** Creates, changes, and reads beside both. */
export async function measureWrites(bench: Bench, options: FreshOptions, say: (text: string) => void): Promise<Row[]> {
  const { store } = bench;
  say("create a product");
  const rows = describeLoad("create a product", await compareCreates(bench, options), 1);
  say("change a product");
  const patches = await compareFresh(bench, "patch", () => patchProducts(store), options);
  rows.push(...describeLoad("change a product", patches, 0.8));
  say("reads and writes, 9 to 1");
  const name = "reads and writes, 9 to 1, 64 connections";
  const requests = mixProducts(readProducts(store), patchProducts(store), createProduct);
  const mixed = await compareFresh(bench, "mixed", () => requests, { ...options, connections: 64 });
  rows.push(...describeLoad(name, mixed, 1.15));
  return [...rows, { name: `${name}: p99`, unit: "ms", ...mixed.p99Ms, mark: { ratioAtMost: 1.5 } }];
}

/** The throughput of two processes beside that of one. */
export async function measureWorkers(bench: Bench, say: (text: string) => void): Promise<Row[]> {
  const { store } = bench;
  const kinds = [
    { name: "get a product", requests: readProducts(store), atLeast: 1.7 },
    { name: "list 20 products", requests: [{ path: `/products/${namespaceQuery}` }], atLeast: 1.7 },
    { name: "create a product", requests: [createProduct], atLeast: 1 },
    { name: "change a product", requests: patchProducts(store), atLeast: 1 },
  ];
  const rows: Row[] = [];
  for (const [number, { name, requests, atLeast }] of kinds.entries()) {
    say(`${name}, two workers`);
    const figures = await compareWorkers(bench, `workers-${number}`, requests);
    rows.push({ name: `${name}, two workers (left) beside one`, unit: "/s", ...figures, mark: { atLeast } });
  }
  return rows;
}

function compareWorkers(bench: Bench, name: string, requests: readonly Request[]): Promise<Comparison> {
  const measure = (workers: number) => async (round: number) => {
    const dir = join(bench.workDir, `${name}-${workers}-${round}`);
    copyStore(bench.store.dataDir, dir);
    const server = await startBodega(bench.binary, dir, ["--workers", String(workers)]);
    await measureLoad(bench, server, requests, { seconds: 1, connections: 64 });
    const { perSecond } = await measureLoad(bench, server, requests, { connections: 64 });
    await server.stop();
    return perSecond;
  };
  return comparePairs(bench.effort.rounds, measure(2), measure(1));
}

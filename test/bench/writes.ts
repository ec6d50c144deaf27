import type { Request } from "./load.ts";
import type { Bench, ComparedCost, StartSide } from "./measure.ts";
import { compareFresh, compareLoads, describeLoad, startOnCopy } from "./measure.ts";
import type { Row } from "./report.ts";
import { call, namespaceQuery, type Store, sampleProduct } from "./store.ts";

/** Returns the body of an order of one piece of the product that no load sells out. */
export function orderBody({ plentifulId }: Store, note?: string): string {
  return JSON.stringify({ items: [{ product_id: plentifulId, quantity: 1 }], ...(note !== undefined && { note }) });
}

const createProduct: Request = {
  method: "POST",
  path: `/products/${namespaceQuery}`,
  body: sampleProduct("new-@@@@@@@@"),
};

function readProducts({ productIds }: Store): Request[] {
  return productIds.map((id) => ({ path: `/products/${id}/${namespaceQuery}` }));
}

/** Returns requests that set new prices, each of another product. */
function patchProducts(store: Store): Request[] {
  return readProducts(store).map(({ path }) => ({ method: "PATCH", path, body: '{"price":1@@@@@@@@}' }));
}

/** Returns requests: of ten, eight read a product, one creates a product, and one changes a product. */
function mixProducts(store: Store): Request[] {
  const patches = patchProducts(store);
  return readProducts(store).map((read, index) =>
    index % 10 === 4 ? createProduct : index % 10 === 9 ? (patches[index] ?? read) : read,
  );
}

/** Compares the creation of products. */
export function compareCreates(bench: Bench, start?: StartSide): Promise<ComparedCost> {
  return compareFresh(bench, "create", [createProduct], { start });
}

/** Compares the creation of orders. All are of the same product, so that they compete for its stock. */
export function compareOrders(bench: Bench, start?: StartSide): Promise<ComparedCost> {
  const order: Request = { method: "POST", path: `/orders/${namespaceQuery}`, body: orderBody(bench.store) };
  return compareFresh(bench, "order", [order], { start });
}

/** Measures orders, compared with the bare side. */
export async function measureOrders(bench: Bench): Promise<Row[]> {
  bench.say("create an order");
  const rows = describeLoad("create an order", await compareOrders(bench));
  bench.say("create an order with rates, taxes and a code");
  const name = "order with rates, taxes, code (left) beside one without";
  return [...rows, ...describeLoad(name, await comparePricedOrders(bench), 1.3)];
}

/** Compares orders in a store with rates, taxes and a code with orders in a store without them. */
async function comparePricedOrders(bench: Bench): Promise<ComparedCost> {
  const { headers, plentifulId } = bench.store;
  const servers = { bodega: await startOnCopy(bench, "priced"), bare: await startOnCopy(bench, "unpriced") };
  const set = (path: string, body: object, method?: "PUT") =>
    call<{ id: string }[]>(servers.bodega, path + namespaceQuery, headers, JSON.stringify(body), method);
  const rate = { zone: "home", countries: ["DE"], name: "Parcel", price: 4.9, free_from: 500 };
  const { data } = await set("/shipping/rates/", { rates: [rate, { ...rate, name: "Express", price: 9.9 }] }, "PUT");
  await set("/taxes/rates/", { rates: [{ class: "standard", country: "DE", rate: 19 }] }, "PUT");
  await set("/discounts/", { code: "SUMMER10", percent: 10, limit: 1_000_000_000 });
  const address = { name: "Eve", line1: "Straße 1", city: "Berlin", postal_code: "10115", country: "DE" };
  const plain = { items: [{ product_id: plentifulId, quantity: 1 }], shipping_address: address };
  const order = (body: object): Request[] => [
    { method: "POST", path: `/orders/${namespaceQuery}`, body: JSON.stringify(body) },
  ];
  const priced = order({ ...plain, shipping_rate: data[0]?.id, discount_code: "summer10" });
  const costs = await compareLoads(bench, servers, { bodega: priced, bare: order(plain) });
  for (const server of Object.values(servers)) await server.stop();
  return costs;
}

/** Measures creating products, changing products, and a mix of both with reads. */
export async function measureWrites(bench: Bench): Promise<Row[]> {
  bench.say("create a product");
  const rows = describeLoad("create a product", await compareCreates(bench), 1);
  bench.say("change a product");
  const patches = await compareFresh(bench, "patch", patchProducts(bench.store));
  rows.push(...describeLoad("change a product", patches, 0.8));
  bench.say("reads and writes, 8 to 2");
  const name = "reads and writes, 8 to 2, 64 connections";
  const mixed = await compareFresh(bench, "mixed", mixProducts(bench.store), { connections: 64 });
  rows.push(...describeLoad(name, mixed, 1.6));
  return [...rows, { name: `${name}: p99`, unit: "ms", ...mixed.p99Ms, mark: { ratioAtMost: 1.5 } }];
}

/** Measures the throughput of two processes (the column `bodega`), compared with one. */
export async function measureWorkers(bench: Bench): Promise<Row[]> {
  const kinds = [
    { name: "get a product", requests: readProducts(bench.store), atLeast: 1.7 },
    { name: "list 20 products", requests: [{ path: `/products/${namespaceQuery}` }], atLeast: 1.7 },
    { name: "create a product", requests: [createProduct], atLeast: 1 },
    { name: "change a product", requests: patchProducts(bench.store), atLeast: 1 },
  ];
  const start: StartSide = (side, copy) =>
    startOnCopy(bench, `${copy}-${side}`, ["--workers", side === "bodega" ? "2" : "1"]);
  const rows: Row[] = [];
  for (const [number, { name, requests, atLeast }] of kinds.entries()) {
    bench.say(`${name}, two workers`);
    const { perSecond } = await compareFresh(bench, `workers-${number}`, requests, { start, connections: 64 });
    rows.push({ name: `${name}, two workers (left) beside one`, unit: "/s", ...perSecond, mark: { atLeast } });
  }
  return rows;
}

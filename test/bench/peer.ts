import { cpSync } from "node:fs";
import { join } from "node:path";
import { compareFigures, compareOnce } from "./compare.ts";
import type { Request } from "./load.ts";
import { type Bench, describeLoad, measureLoad, type Side, startSide } from "./measure.ts";
import { findPort, type Running, runCommand, startServer } from "./process.ts";
import type { Row } from "./report.ts";
import { namespaceQuery, sampleProduct } from "./store.ts";
import { mixProducts, patchProducts, readProducts } from "./writes.ts";

const records = "/api/collections/products/records";
const owner = { identity: "owner@example.com", password: "Vermilion-Kettle-4871" };
const atOnce = 50;

/** The collection, open to everyone, with indexes for the same sorts. */
const collection = {
  name: "products",
  type: "base",
  ...{ listRule: "", viewRule: "", createRule: "", updateRule: "" },
  fields: [
    { name: "title", type: "text" },
    { name: "description", type: "text" },
    { name: "price", type: "number" },
    { name: "sku", type: "text" },
    { name: "stock", type: "number" },
    { name: "images", type: "json" },
    { name: "tags", type: "json" },
    { name: "metadata", type: "json" },
    { name: "created", type: "autodate", onCreate: true },
    { name: "updated", type: "autodate", onCreate: true, onUpdate: true },
  ],
  indexes: [
    "create index products_by_created on products (created)",
    "create index products_by_price on products (price)",
    "create unique index products_sku on products (sku)",
  ],
};

/** The requests of one row for both servers. */
interface Kind {
  name: string;
  requests: Record<Side, readonly Request[]>;
  connections?: number;
}

/** Bodega (left) beside PocketBase, with as many products of the same fields. Rows without marks: they only inform. */
export async function measurePeer(bench: Bench, peer: string, say: (text: string) => void): Promise<Row[]> {
  say("a thousand products for PocketBase");
  const ids = await fillPeer(bench, peer);
  const rows: Row[] = [];
  const start = (side: Side, name: string) =>
    side === "bodega" ? startSide(bench, side, `peer-${name}`) : startPeer(bench, peer, name);
  for (const { name, requests, connections } of describeKinds(bench, ids)) {
    const title = `${name}, beside PocketBase`;
    say(title);
    const measure = (side: Side) => async (round: number) => {
      const server = await start(side, `${name.replaceAll(/\W+/g, "-")}-${round}`);
      const options = { headers: side === "bodega" ? bench.store.headers : {}, ...(connections && { connections }) };
      await measureLoad(bench, server, requests[side], { ...options, seconds: 1 });
      const cost = await measureLoad(bench, server, requests[side], options);
      await server.stop();
      return cost;
    };
    const figures = await compareFigures(bench.effort.rounds, measure("bodega"), measure("bare"));
    rows.push(...describeLoad(title, figures));
  }
  return [...(await measureRest(bench, start, say)), ...rows];
}

async function measureRest(
  { effort }: Bench,
  start: (side: Side, name: string) => Promise<Running>,
  say: (text: string) => void,
): Promise<Row[]> {
  say("start and idle memory, beside PocketBase");
  const measure = (side: Side) => async (round: number) => {
    const server = await start(side, `start-${round}`);
    const figures = { readyMs: server.readyMs };
    await server.stop();
    return figures;
  };
  const { readyMs } = await compareFigures(effort.starts, measure("bodega"), measure("bare"));
  const idle = {} as Record<Side, number>;
  for (const side of ["bodega", "bare"] as const) {
    const server = await start(side, "idle");
    await Bun.sleep(effort.idleSeconds * 1000);
    idle[side] = server.memory();
    await server.stop();
  }
  return [
    { name: "start to first answer, beside PocketBase", unit: "ms", ...readyMs },
    { name: "idle memory, beside PocketBase", unit: "MiB", ...compareOnce(idle.bodega, idle.bare) },
  ];
}

function describeKinds({ store }: Bench, ids: readonly string[]): Kind[] {
  const list = `/products/${namespaceQuery}`;
  const theirs = `${records}?perPage=20&skipTotal=1`;
  const ofSomePrices = encodeURIComponent("price>=100 && price<300");
  const create = { method: "POST", path: records, body: sampleProduct("new-@@@@@@@@") } as const;
  const reads = ids.map((id) => ({ path: `${records}/${id}` }));
  const patches = reads.map(({ path }) => ({ method: "PATCH", path, body: '{"price":1@@@@@@@@}' }) as const);
  return [
    { name: "get", requests: { bodega: readProducts(store), bare: reads } },
    { name: "list of 20", requests: { bodega: [{ path: list }], bare: [{ path: `${theirs}&sort=-created` }] } },
    {
      name: "price range by price",
      requests: {
        bodega: [{ path: `${list}&price[gte]=100&price[lt]=300&sort=price` }],
        bare: [{ path: `${theirs}&filter=${ofSomePrices}&sort=price` }],
      },
    },
    { name: "create", requests: { bodega: [{ ...create, path: list }], bare: [create] } },
    { name: "change", requests: { bodega: patchProducts(store), bare: patches } },
    {
      name: "reads and writes, 9 to 1",
      requests: {
        bodega: mixProducts(readProducts(store), patchProducts(store), { ...create, path: list }),
        bare: mixProducts(reads, patches, create),
      },
      connections: 64,
    },
  ];
}

/** Makes a directory with the collection and a thousand products, of which `startPeer` makes copies; returns their ids. */
async function fillPeer(bench: Bench, peer: string): Promise<string[]> {
  const dir = join(bench.workDir, "peer-filled");
  runCommand([peer, "superuser", "upsert", owner.identity, owner.password, "--dir", dir]);
  const server = await servePeer(peer, dir);
  try {
    const { token } = await post<{ token: string }>(
      `${server.url}/api/collections/_superusers/auth-with-password`,
      owner,
    );
    await post(`${server.url}/api/collections`, collection, { Authorization: token });
    const ids: string[] = [];
    const create = async (index: number) => {
      const product = JSON.parse(sampleProduct(String(index).padStart(8, "0")));
      return (await post<{ id: string }>(server.url + records, product)).id;
    };
    for (let from = 0; from < bench.store.productIds.length; from += atOnce) {
      ids.push(...(await Promise.all(Array.from({ length: atOnce }, (_, index) => create(from + index)))));
    }
    return ids;
  } finally {
    await server.stop();
  }
}

function startPeer({ workDir }: Bench, peer: string, name: string): Promise<Running> {
  const dir = join(workDir, `peer-${name}-bare`);
  cpSync(join(workDir, "peer-filled"), dir, { recursive: true });
  return servePeer(peer, dir);
}

async function servePeer(peer: string, dir: string): Promise<Running> {
  const port = await findPort();
  const command = [peer, "serve", `--http=127.0.0.1:${port}`, "--dir", dir];
  return startServer(command, `http://127.0.0.1:${port}`, "/api/health", join(dir, "..", "peer.log"));
}

async function post<Reply>(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  const reply = await fetch(url, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${url} was answered ${reply.status}: ${text}`);
  return JSON.parse(text);
}

import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { findPort, type Running, runCommand, startServer } from "./process.ts";

/** A data directory for measurements, and the headers and ids that callers need. */
export interface Store {
  dataDir: string;
  headers: Record<string, string>;
  productIds: string[];
  /** The id of a product with so much stock that no load sells it out. */
  plentifulId: string;
}

/** The query of every request to both sides, so that both parse paths of the same length. */
export const namespaceQuery = "?namespace=bench";
/** With these flags, the server takes a call's IP address from a header. Limits count by address. */
export const trustLoopback = ["--trusted-proxy", "127.0.0.1/32"];

const productCount = 1000;
const atOnce = 50;

/** Starts the executable on a data directory as users do: one process, with the text log in a file. */
export async function startBodega(binary: string, dataDir: string, flags: readonly string[] = []): Promise<Running> {
  const port = await findPort();
  const command = [binary, "serve", "--port", String(port), "--data-dir", dataDir, ...flags];
  return startServer(command, `http://127.0.0.1:${port}`, join(dataDir, "serve.log"));
}

/** Creates a store and a published key with commands. Returns the headers of callers. */
export function openTenant(binary: string, dataDir: string): Record<string, string> {
  const flags = ["--data-dir", dataDir, "--json"];
  runCommand([binary, "tenant", "create", "bench", "--currency", "EUR", ...flags]);
  const issue = ["key", "issue", "-n", "bench", "--name", "bench", "--publish"];
  const key = JSON.parse(runCommand([binary, ...issue, ...flags]).output) as Record<string, string>;
  return { Authorization: `Bearer ${key.app_id}:${key.app_secret}` };
}

/** Creates a store with a published key and a thousand products. */
export async function createStore(binary: string, dataDir: string): Promise<Store> {
  const headers = openTenant(binary, dataDir);
  const server = await startBodega(binary, dataDir);
  const create = async (index: number, stock?: number) => {
    const body = sampleProduct(String(index).padStart(8, "0"), stock);
    return (await call<{ id: string }>(server, `/products/${namespaceQuery}`, headers, body)).data.id;
  };
  try {
    const productIds: string[] = [];
    for (let from = 0; from < productCount; from += atOnce) {
      productIds.push(...(await Promise.all(Array.from({ length: atOnce }, (_, index) => create(from + index)))));
    }
    return { dataDir, headers, productIds, plentifulId: await create(productCount, 1_000_000_000) };
  } finally {
    await server.stop();
  }
}

/** Copies a data directory. No process may be using it. */
export function copyStore(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  // Also copies the secret key, because the database refuses another key.
  for (const name of ["bodega.db", "bodega.db-wal", "secret.key"]) {
    if (existsSync(join(from, name))) cpSync(join(from, name), join(to, name));
  }
}

/** Returns the body of a typical product: some text, a picture, tags, a little metadata. */
export function sampleProduct(name: string, stock = 40): string {
  return JSON.stringify({
    title: `Bench ${name}`,
    description:
      "A sturdy bench of oiled oak for two, delivered in one piece. Wipe it with a dry cloth, never with soap.",
    price: 249.5,
    sku: `B-${name}`,
    stock,
    images: [{ url: `https://pictures.example/bench-${name}.jpg`, alt: "A bench under a tree" }],
    tags: ["furniture", "oak", "outdoor"],
    metadata: { width_cm: 120, care: { soap: false } },
  });
}

/** Reads, or sends a body. Throws unless the call succeeds. */
export async function call<Data>(
  { url }: Pick<Running, "url">,
  path: string,
  headers: Record<string, string>,
  body?: string,
  method: "POST" | "PUT" = "POST",
): Promise<{ data: Data; page: { next_cursor: string | null } }> {
  const post = { method, headers: { ...headers, "Content-Type": "application/json" }, body };
  const reply = await fetch(url + path, body === undefined ? { headers } : post);
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${path} was answered ${reply.status}: ${text}`);
  return JSON.parse(text);
}

/** Returns the path of a later page of a list (at most the last full page), and the product before it. */
export async function findPage(server: Running, headers: Record<string, string>, query: string, number: number) {
  const read = (path: string) => call<{ created_at: string; id: string }[]>(server, path, headers);
  const first = `/products/${namespaceQuery}${query}`;
  let path = first;
  let before = { created_at: "", id: "" };
  let reply = await read(first);
  for (let page = 1; page < number && reply.page.next_cursor !== null; page++) {
    const nextPath = `${first}&cursor=${encodeURIComponent(reply.page.next_cursor)}`;
    const next = await read(nextPath);
    if (next.data.length < 20) break;
    before = reply.data.at(-1) ?? before;
    path = nextPath;
    reply = next;
  }
  return { path, before };
}

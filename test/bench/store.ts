import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { findPort, type Running, startServer } from "./process.ts";

/** A data directory to measure with, and what its callers need. */
export interface Store {
  dataDir: string;
  headers: Record<string, string>;
  productIds: string[];
  /** A product that no load sells out. */
  plentifulId: string;
}

/** Every request names the tenant, on both sides, so that both parse paths of equal length. */
export const namespaceQuery = "?namespace=bench";

const productCount = 1000;
const atOnce = 50;
const databaseFile = "bodega.db";

/** Starts the executable on a data directory, as its user would: one process, text log into a file. */
export async function startBodega(
  binary: string,
  dataDir: string,
  flags: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Running> {
  const port = await findPort();
  const command = [binary, "serve", "--port", String(port), "--data-dir", dataDir, ...flags];
  return startServer(command, `http://127.0.0.1:${port}`, "/health/live", join(dataDir, "serve.log"), env);
}

/** Makes a tenant and a published key in the terminal; returns the headers of its callers. */
export async function openTenant(binary: string, dataDir: string): Promise<Record<string, string>> {
  const flags = ["--data-dir", dataDir, "--json"];
  // Without limits on public writes, because refusals are not measured.
  const limits = ["--address-writes", "0", "--visitor-writes", "0"];
  await readJson([binary, "tenant", "create", "bench", "--currency", "EUR", ...limits, ...flags]);
  const key = await readJson([binary, "key", "issue", "-n", "bench", "--name", "bench", "--publish", ...flags]);
  return { Authorization: `Bearer ${key.app_id}:${key.app_secret}` };
}

/** Makes a tenant and a published key in the terminal, and a thousand products over HTTP. */
export async function createStore(binary: string, dataDir: string): Promise<Store> {
  const headers = await openTenant(binary, dataDir);
  const server = await startBodega(binary, dataDir);
  try {
    const productIds: string[] = [];
    for (let from = 0; from < productCount; from += atOnce) {
      const made = Array.from({ length: atOnce }, (_, i) => createProduct(server.url, headers, from + i));
      productIds.push(...(await Promise.all(made)));
    }
    const plentifulId = await createProduct(server.url, headers, productCount, 1_000_000_000);
    return { dataDir, headers, productIds, plentifulId };
  } finally {
    await server.stop();
  }
}

/** A second data directory with the same rows; the first one must not be in use. */
export function copyStore(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  // With its secret key: the database refuses another one.
  for (const name of [databaseFile, `${databaseFile}-wal`, "secret.key"]) {
    if (existsSync(join(from, name))) cpSync(join(from, name), join(to, name));
  }
}

/** The body of a typical product: some text, a picture, tags, a little metadata. */
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

async function createProduct(
  url: string,
  headers: Record<string, string>,
  index: number,
  stock?: number,
): Promise<string> {
  const response = await fetch(`${url}/products/${namespaceQuery}`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: sampleProduct(String(index).padStart(8, "0"), stock),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`A product was not created: ${text}`);
  return (JSON.parse(text) as { data: { id: string } }).data.id;
}

async function readJson(command: string[]): Promise<Record<string, string>> {
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [text, complaint, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed: ${complaint}`);
  return JSON.parse(text);
}

import { statSync } from "node:fs";
import { join } from "node:path";
import { compareOnce } from "./compare.ts";
import { type Bench, type Side, startSide } from "./measure.ts";
import type { Row } from "./report.ts";
import { namespaceQuery, sampleProduct } from "./store.ts";

/** Calls of each row. */
const calls = 100;

type Write = { path: string; body: string };

/** The bytes that one write adds to the WAL, for writes that do not share a commit. */
export async function measureLog(bench: Bench, say: (text: string) => void): Promise<Row[]> {
  const { productIds } = bench.store;
  const itemOf = (index: number) => ({ product_id: productIds[(index * 13) % productIds.length], quantity: 1 });
  const product = (index: number): Write => ({ path: "/products/", body: sampleProduct(`log-${index}`) });
  const order = (index: number): Write => ({ path: "/orders/", body: JSON.stringify({ items: [itemOf(index)] }) });
  const kinds = [
    { name: "log bytes per product created", write: product, mark: { atMost: 88_000 } },
    { name: "log bytes per order", write: order, mark: { atMost: 54_000 } },
  ];
  const rows: Row[] = [];
  for (const { name, write, mark } of kinds) {
    say(name);
    const ours = await measureSide(bench, "bodega", write);
    rows.push({ name, unit: "B", ...compareOnce(ours, await measureSide(bench, "bare", write)), mark });
  }
  return rows;
}

/** The mean number of bytes by which the WAL grows with a write, one after another. */
async function measureSide(bench: Bench, side: Side, write: (index: number) => Write): Promise<number> {
  const copy = `log-${write(0).path.split("/")[1]}`;
  const server = await startSide(bench, side, copy);
  const wal = join(bench.workDir, `${copy}-${side}`, "bodega.db-wal");
  const size = () => statSync(wal, { throwIfNoEntry: false })?.size ?? 0;
  const headers = { ...bench.store.headers, "Content-Type": "application/json" };
  const grown: number[] = [];
  for (let index = 0; index < calls; index++) {
    const { path, body } = write(index);
    const before = size();
    const response = await fetch(server.url + path + namespaceQuery, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`A write failed: ${await response.text()}`);
    // After a checkpoint, SQLite writes to the start of the WAL.
    if (size() > before) grown.push(size() - before);
  }
  await server.stop();
  return grown.reduce((sum, bytes) => sum + bytes, 0) / grown.length;
}

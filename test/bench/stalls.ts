import { connect } from "node:net";
import { join } from "node:path";
import { adversarialTexts } from "../support/adversarial.ts";
import { compareOnce } from "./compare.ts";
import { newAddress } from "./logins.ts";
import type { Bench } from "./measure.ts";
import type { Running } from "./process.ts";
import type { Row } from "./report.ts";
import { copyStore, namespaceQuery, type Store, startBodega } from "./store.ts";

/** A request that takes as much work as it can. */
interface Attack {
  name: string;
  method?: "POST" | "PUT" | "PATCH";
  path: string;
  body?: string;
}

/** A little below the limit of bodies. */
const size = 1_040_000;

/**
 * How long one request keeps others waiting, in milliseconds: reads follow each other without a pause on one connection
 * while the request is sent and answered, and the slowest counts. Of several tries the best counts, because what
 * else the machine does cannot make a request cheaper. The figure is that of the worst request; `bare` is the same for
 * a request that asks for a single product.
 */
export async function measureStalls(bench: Bench, say: (text: string) => void): Promise<Row[]> {
  const dir = join(bench.workDir, "stalls");
  copyStore(bench.store.dataDir, dir);
  // Limits count by address; through a trusted proxy, each call has its own.
  const server = await startBodega(bench.binary, dir, ["--trusted-proxy", "127.0.0.1/32"]);
  try {
    const { store } = bench;
    const one = { name: "get a product", path: productPath(store, 0) };
    const rest = await worstOf(bench, server, [one, one], () => {});
    const open = await worstOf(bench, server, [...openAttacks()], say);
    const withKey = await worstOf(bench, server, [...keyAttacks(store)], say, store.headers);
    const name = "longest stall that one request causes to others";
    return [
      { name: `${name}, without credentials`, unit: "ms", ...compareOnce(open, rest), mark: { atMost: 25 } },
      { name: `${name}, with a key`, unit: "ms", ...compareOnce(withKey, rest), mark: { atMost: 50 } },
    ];
  } finally {
    await server.stop();
  }
}

async function worstOf(
  bench: Bench,
  server: Running,
  attacks: readonly Attack[],
  say: (text: string) => void,
  headers: Record<string, string> = {},
): Promise<number> {
  let worst = 0;
  for (const attack of attacks) {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < bench.effort.rounds; round++) {
      best = Math.min(best, await timeStall(bench, server, attack, headers));
    }
    if (best > worst) say(`${attack.name}, ${attack.path}: ${best.toFixed(1)} ms`);
    worst = Math.max(worst, best);
  }
  return worst;
}

async function timeStall(
  { store }: Bench,
  { url }: Running,
  attack: Attack,
  headers: Record<string, string>,
): Promise<number> {
  const target = url + productPath(store, 1);
  const read = async () => {
    const reply = await fetch(target, { headers: store.headers });
    await reply.arrayBuffer();
    if (!reply.ok) throw new Error(`A read was answered ${reply.status}.`);
  };
  await read();
  let isOver = false;
  const sent = send(url, attack, headers).finally(() => {
    isOver = true;
  });
  let longest = 0;
  while (!isOver) {
    const started = performance.now();
    await read();
    longest = Math.max(longest, performance.now() - started);
  }
  await sent;
  return longest;
}

/** Sends a request on a connection of its own, without further work of this process, and waits for the reply. */
function send(url: string, { method = "POST", path, body }: Attack, given: Record<string, string>): Promise<void> {
  const { hostname, port } = new URL(url);
  const bytes = Buffer.from(body ?? "");
  const headers = {
    Host: hostname,
    Connection: "close",
    "X-Forwarded-For": newAddress(),
    ...(body !== undefined && { "Content-Type": "application/json", "Content-Length": String(bytes.length) }),
    ...given,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${body === undefined ? "GET" : method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let isAnswered = false;
    socket.on("data", (chunk: Buffer) => {
      isAnswered ||= chunk.length > 0;
    });
    socket.on("error", reject);
    socket.on("close", () => (isAnswered ? resolve() : reject(new Error(`${path} was not answered.`))));
    socket.write(head);
    socket.write(bytes);
  });
}

function productPath({ productIds }: Store, index: number): string {
  return `/products/${productIds[index]}/${namespaceQuery}`;
}

/** JSON objects of about a MiB that are slow to parse or to check. */
function* hugeBodies(fields: Record<string, unknown>, text: string): Generator<[name: string, body: string]> {
  const open = JSON.stringify({ ...fields, x: 0 }).slice(0, -'"x":0}'.length);
  const zeros = `1${"0".repeat(size - 200)}1`;
  yield ["a number of a MiB", `${open}"${text}":${zeros}}`];
  yield ["a number of a MiB with a fraction", `${open}"${text}":0.${zeros}}`];
  const number = `1${"0".repeat(390)}1,`;
  yield ["numbers of 390 digits", `${open}"${text}":[${number.repeat((size - 1000) / number.length)}0]}`];
  yield ["numbers with exponents", `${open}"${text}":[${"12345678901234567890e5,".repeat(9900)}0]}`];
  const names = Array.from({ length: 9900 }, (_, n) => `"${"n".repeat(80)}${n}":${n}`).join();
  yield ["unknown names", `${open}${names}}`];
  yield ["names within a field", `${open}"${text}":{${names}}}`];
  yield ["empty objects", `${open}"${text}":[${"{},".repeat(9900)}0]}`];
  const wide = `{"${"w".repeat(500_000)}":{${names.slice(0, 400_000)}`;
  yield ["names within a long name", `${open}"${text}":${wide.slice(0, wide.lastIndexOf(","))}}}}`];
}

function* openAttacks(): Generator<Attack> {
  const email = "ada@example.com";
  const resource = { resource_type: "product", resource_id: "prod_0" };
  const endpoints: [path: string, fields: Record<string, unknown>, text: string][] = [
    ["/auth/login/", { email, password: "x" }, "otp"],
    ["/auth/login/", { password: "x" }, "email"],
    ["/auth/password/reset/", { email, code: "123456" }, "password"],
    ["/likes/", resource, "visitor"],
    ["/views/", resource, "visitor"],
    ["/notifications/register/", { platform: "web" }, "subscription"],
  ];
  for (const [path, fields, text] of endpoints) {
    for (const [name, body] of hugeBodies(fields, text)) yield { name, path: path + namespaceQuery, body };
  }
  for (const [name, text] of adversarialTexts(size / 8)) {
    // A control character takes six bytes.
    const body = JSON.stringify({ email: text, password: text.slice(0, 1024) });
    yield { name, path: `/auth/login/${namespaceQuery}`, body };
  }
}

function* keyAttacks(store: Store): Generator<Attack> {
  const products = `/products/${namespaceQuery}`;
  const product = { title: "Bench", price: 1 };
  for (const text of ["description", "metadata", "translations", "variants", "tags"]) {
    for (const [name, body] of hugeBodies(product, text)) yield { name: `${text} of ${name}`, path: products, body };
  }
  for (const [name, text] of adversarialTexts(50_000)) {
    const description = text.slice(0, 50_000).replaceAll("\0", "").toWellFormed();
    const translations: Record<string, unknown> = {};
    const bytes = Buffer.byteLength(JSON.stringify(description)) + 50;
    for (let n = 0; n < Math.min(25, Math.floor(size / bytes) - 1); n++) {
      translations[`a${String.fromCharCode(97 + n)}`] = { description };
    }
    const body = JSON.stringify({ ...product, description, translations });
    yield { name: `descriptions of ${name}`, path: products, body };
  }
  // As much as a product may have; the second is merged with what the same request has written before.
  for (const text of ["\\", "a1 ", "ß"]) {
    const description = text.repeat(36_000 / (Buffer.byteLength(JSON.stringify(text)) - 2));
    const names = Array.from({ length: 14 }, (_, n) => `a${String.fromCharCode(97 + n)}`);
    const translations = Object.fromEntries(names.map((name) => [name, { title: "A", description }]));
    const body = JSON.stringify({ ...product, description, translations });
    yield { name: `stored descriptions of ${text}`, path: products, body };
    yield { name: `merged descriptions of ${text}`, method: "PATCH", path: productPath(store, 3), body };
  }
  const variants = Array.from({ length: 100 }, (_, n) => ({
    title: `${n} ${"x y ".repeat(70)}`,
    options: Object.fromEntries(Array.from({ length: 10 }, (_, o) => [`o${o}`, `${n} ${"z".repeat(90)}`])),
  }));
  yield { name: "a hundred variants", path: products, body: JSON.stringify({ ...product, variants }) };
  const metadata = Object.fromEntries(Array.from({ length: 1500 }, (_, n) => [`key${n}`, n]));
  for (let again = 0; again < 2; again++) {
    const body = JSON.stringify({ metadata });
    yield { name: "metadata that is merged", method: "PATCH", path: productPath(store, 2), body };
  }
  const items = store.productIds.slice(0, 100).map((product_id) => ({ product_id, quantity: 1 }));
  yield { name: "an order of a hundred lines", path: `/orders/${namespaceQuery}`, body: JSON.stringify({ items }) };
  yield { name: "a long list", path: `${products}&limit=100&include_total=true` };
  for (const q of ["b", "bench oak sturdy", "ﷺ".repeat(60), "a b c d e f g ".repeat(14), "語".repeat(60)]) {
    yield { name: "a search", path: `${products}&limit=100&include_total=true&q=${encodeURIComponent(q)}` };
  }
}

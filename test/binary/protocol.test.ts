import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { openDatabase } from "../../src/server/db/open.ts";
import { type Binary, openShop, useBinaries } from "../support/binary.ts";
import { formatHead } from "../support/raw-http.ts";
import type { Serving } from "../support/serving.ts";
import { until } from "../support/until.ts";
import { type Call, call } from "./calls.ts";

const { installBinary } = useBinaries();

const products = "/products/?namespace=demo";

let binary: Binary;
let server: Serving;
let authorization: string;

beforeAll(async () => {
  binary = installBinary();
  authorization = (await openShop(binary)).auth;
  server = await binary.serve("--log", "json");
});

afterAll(() => server.end());

/** Sends one request with a valid key on a new connection. */
async function send({ headers, ...request }: Call) {
  const connection = server.connect();
  try {
    return await call(connection, { ...request, headers: { authorization, ...headers } });
  } finally {
    connection.end();
  }
}
test("a health check of a simple HTTP/1.0 client without a usable Host gets a reply", async () => {
  for (const start of [
    "GET /health/ready HTTP/1.0\r\n\r\n",
    "GET /health/ready HTTP/1.1\r\nHost: \r\n\r\n",
    "GET /health/ready HTTP/1.1\r\nHost: a b\r\n\r\n",
    "GET /health/ready HTTP/1.1\r\nHost: db\r\n\r\n",
  ]) {
    const connection = server.connect();
    connection.write(start);
    expect(await connection.read()).toMatchObject({ status: 200 });
    connection.end();
  }
});

const get = "GET /health/live HTTP/1.1\r\nHost: a\r\n";
const post = "POST /products/?namespace=demo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
const lines = (count: number) => Array.from({ length: count }, (_, n) => `X-${n}: v\r\n`).join("");
const parserReplies: [status: number | null, requests: string[]][] = [
  [
    400,
    [
      "garbage\r\n\r\n",
      "\0\0\0\0\r\n\r\n",
      "\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      `\r\n${get}\r\n`,
      "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /health/live HTTP/1.1\r\n\r\n",
      ...["No colon", ": b", "X-A : b", "X(A): b", "X-A: b\r\n c", "X-A: a\x01b"].map(
        (line) => `${get}${line}\r\n\r\n`,
      ),
      ...["2a", "-2", "+2", "2, 2", "", "2\r\nContent-Length: 3", "2\r\nTransfer-Encoding: chunked"].map(
        (length) => `${post}Content-Length: ${length}\r\n\r\n{}`,
      ),
      ...["gzip", "gzip, chunked", "identity", "chunked\r\nTransfer-Encoding: chunked"].map(
        (encoding) => `${post}Transfer-Encoding: ${encoding}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      ),
      `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    ],
  ],
  [
    505,
    [
      "GET /products/\0/ HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /health/live HTTP/1.2\r\nHost: a\r\n\r\n",
      "GET /health/live\r\nHost: a\r\n\r\n",
      "GET /health/live HTTP/1.1\nHost: a\n\n",
    ],
  ],
  [431, [`${get}X-A: ${"a".repeat(33_000)}\r\n\r\n`, `${get}${lines(198)}\r\n`]],
  [null, ["FROB", "get", "GETS"].map((method) => `${method} /health/live HTTP/1.1\r\nHost: a\r\n\r\n`)],
];

test.each(parserReplies)(
  "the HTTP parser refuses requests with only %p, as docs/OPERATION.md says",
  async (status, all) => {
    for (const bytes of all) {
      const connection = server.connect();
      connection.write(Buffer.from(bytes, "latin1"));
      const reply = await connection.read();
      const shown = reply && { ...reply, headers: [...reply.headers] };
      const refusal = { status, headers: [["connection", "close"]], text: "" };
      expect([bytes, shown as unknown]).toEqual([bytes, status === null ? null : refusal]);
      await connection.closed;
    }
    expect(await send({ path: products })).toMatchObject({ status: 200 });
  },
);

test("headers of 31 KiB, for example with many cookies, are accepted", async () => {
  expect(await send({ path: products, headers: { cookie: "a".repeat(31 * 1024) } })).toMatchObject({ status: 200 });
});

test("pipelined requests are answered in order, or the connection is closed after some of them", async () => {
  const connection = server.connect();
  const paths = ["/health/live", products, "/nowhere/", "/health/ready", products];
  const headers = { authorization };
  connection.write(paths.map((path) => formatHead({ head: `GET ${path} HTTP/1.1`, headers })).join(""));
  const statuses: number[] = [];
  while (statuses.length < paths.length) {
    const reply = await connection.read();
    if (reply === null) break;
    statuses.push(reply.status);
  }
  expect(statuses.length).toBeGreaterThan(0);
  expect(statuses).toEqual([200, 200, 404, 200, 200].slice(0, statuses.length));
  connection.end();
});

test("a connection that pipelines thousands of requests is closed, and other connections are served", async () => {
  const connection = server.connect();
  const request = formatHead({ head: `GET ${products} HTTP/1.1`, headers: { authorization } });
  connection.write(request.repeat(20_000));
  let replies = 0;
  while ((await connection.read())?.status === 200) replies++;
  expect(replies).toBeLessThan(20_000);
  expect(await send({ path: products })).toMatchObject({ status: 200 });
});

test("a body in thousands of tiny chunks is refused, and a body in larger chunks is read", async () => {
  const body = JSON.stringify({ title: "In chunks", price: 1, description: "x".repeat(20_000) });
  const sendChunks = async (size: number) => {
    const connection = server.connect();
    const headers = { authorization, "content-type": "application/json", "transfer-encoding": "chunked" };
    const chunks = body.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
    const framed = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
    connection.write(`${formatHead({ head: `POST ${products} HTTP/1.1`, headers })}${framed}0\r\n\r\n`);
    const reply = await connection.read();
    connection.end();
    return reply;
  };
  expect(await sendChunks(1)).toMatchObject({ status: 400 });
  expect(await sendChunks(100)).toMatchObject({ status: 201 });
});

test("a request that is pipelined after a write closes the connection, and the write can be repeated with its key", async () => {
  const body = '{"title":"Pipelined","price":1}';
  const headers = { authorization, "content-type": "application/json", "idempotency-key": "pipelined" };
  const connection = server.connect();
  const write = formatHead({
    head: `POST ${products} HTTP/1.1`,
    headers: { ...headers, "content-length": String(body.length) },
  });
  connection.write(`${write}${body}${formatHead({ head: `GET ${products} HTTP/1.1`, headers: { authorization } })}`);
  const reply = await connection.read();
  // The client notices the closed connection at once, with or without a reply.
  if (reply !== null) expect(reply.status).toBe(201);
  await connection.closed;
  const again = await until("the write has ended", async () => {
    const answer = await send({ path: products, headers, body });
    return answer.status === 201 ? answer : undefined;
  });
  expect(again.status).toBe(201);
  const { body: list } = await send({ path: `${products}&q=pipelined` });
  expect(list.data).toHaveLength(1);
});

test("the reply of a handler that throws reveals no internals, and the log has the error without source paths", async () => {
  const database = await openDatabase({ dataDir: join(binary.dir, "bodega-data") });
  const body = { title: "Lamp", price: 1 };
  try {
    await database.execute("alter table products rename to products_away");
    for (const request of [{ path: products }, { path: products, body }]) {
      const { status, body: reply } = await send(request);
      expect(status).toBe(500);
      expect(reply.error).toMatchObject({ code: 5000, message: "Internal error." });
      const line = await until("the line of the log", () =>
        server
          .log()
          .split("\n")
          .find((text) => text.includes(reply.request_id)),
      );
      const entry = JSON.parse(line);
      expect(entry).toMatchObject({ level: "error", status: 500, code: 5000, request_id: reply.request_id });
      expect(entry.fault).toMatch(/products/);
      expect(line).not.toMatch(/\b(?:select|insert|from|where|values)\b|\.ts\b|\$bunfs|\\n/i);
      expect(line).not.toContain(binary.dir);
    }
    await database.execute("alter table products_away rename to products");
  } finally {
    await database.close();
  }
  expect(await send({ path: products, body })).toMatchObject({ status: 201 });
  expect(await send({ path: products })).toMatchObject({ status: 200 });
});

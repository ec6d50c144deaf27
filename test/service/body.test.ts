import { expect, test } from "bun:test";
import { hasLongBody, readBody } from "../../src/server/api/body.ts";
import { partyOf, yieldToEventLoop } from "../../src/server/concurrency/event-loop.ts";
import { until } from "../support/until.ts";

const limits = { bytes: 1_000_000, ms: 5000 };
const encoder = new TextEncoder();

/** Opens a request whose body the test sends in pieces. */
function openRequest() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
  });
  const headers = { "content-type": "application/json", "content-length": "999999" };
  return {
    request: new Request("http://a/", { method: "POST", body, headers }),
    send: (bytes: number) => controller?.enqueue(encoder.encode(" ".repeat(bytes))),
    end: () => {
      controller?.enqueue(encoder.encode("{}"));
      controller?.close();
    },
  };
}

test("large bodies share a limited memory, and the received bytes of a body count until its request ends", async () => {
  const memory = { left: 200_000 };
  const [idle, first, second] = [openRequest(), openRequest(), openRequest()];
  const waiting = readBody(idle.request, limits, memory);
  const received = readBody(first.request, limits, memory);
  first.send(150_000);
  await until("the first body", () => memory.left === 50_000);
  second.send(150_000);
  expect((await readBody(second.request, limits, memory)).error).toMatchObject({ code: 5001, retryAfter: 1 });
  expect(memory.left).toBe(50_000);
  first.end();
  expect(await received).toEqual({ value: {} });
  expect(memory.left).toBe(200_000);
  idle.end();
  expect(await waiting).toEqual({ value: {} });
});

test("a body of ordinary size does not use the shared memory", async () => {
  const headers = { "content-type": "application/json", "content-length": "2" };
  const request = new Request("http://a/", { method: "POST", body: "{}", headers });
  expect(await readBody(request, limits, { left: 0 })).toEqual({ value: {} });
});

test("an aborted body releases its memory, and its later bytes use none", async () => {
  const memory = { left: 200_000 };
  const late = openRequest();
  late.send(150_000);
  expect((await readBody(late.request, { bytes: 1_000_000, ms: 50 }, memory)).error).toMatchObject({ code: 5100 });
  expect(memory.left).toBe(200_000);
  late.send(10_000);
  late.end();
  await new Promise((resolve) => setImmediate(resolve));
  expect(memory.left).toBe(200_000);
});

test("a long body that arrives in a long turn of the event loop is parsed in a later turn", async () => {
  let turns = 0;
  let next = setImmediate(function count() {
    turns++;
    next = setImmediate(count);
  });
  const read = async (length: number) => {
    const body = JSON.stringify({ text: "x".repeat(length) });
    const headers = { "content-type": "application/json", "content-length": String(body.length) };
    const request = new Request("http://a/", { method: "POST", body, headers });
    expect((await readBody(request, limits, { left: 1e6 })).value?.text).toHaveLength(length);
    return turns;
  };
  await yieldToEventLoop();
  for (const end = performance.now() + 20; performance.now() < end; );
  const [short, long] = await Promise.all([read(1000), read(20_000)]);
  clearImmediate(next);
  expect(short).toBe(0);
  expect(long).toBeGreaterThan(0);
});

test("a long body whose client has disconnected is not parsed", async () => {
  const client = new AbortController();
  const body = JSON.stringify({ text: "x".repeat(20_000) });
  const headers = { "content-type": "application/json", "content-length": String(body.length) };
  const request = new Request("http://a/", { method: "POST", body, headers, signal: client.signal });
  const reading = readBody(request, limits, { left: 1e6 });
  client.abort();
  expect((await reading).error).toMatchObject({ code: 5100 });
});

test("the headers of a request show whether its body will be long", () => {
  const told = (headers: Record<string, string>) => hasLongBody(new Headers(headers));
  expect(told({ "content-length": "1000000" })).toBe(true);
  expect(told({ "transfer-encoding": "chunked" })).toBe(false);
  expect(told({ "content-length": "1000" })).toBe(false);
  expect(told({})).toBe(false);
});

test("any number of large bodies of a store do not delay its short requests", async () => {
  const url = "http://a/likes/?namespace=lamps";
  const order: string[] = [];
  const body = JSON.stringify({ text: "\u0000".repeat(10_000) });
  const headers = { "content-type": "application/json", "content-length": String(body.length) };
  const send = () => readBody(new Request(url, { method: "POST", body, headers }), limits, { left: 200_000 });
  const bodies = Array.from({ length: 100 }, () => send().then(() => order.push("body")));
  const short = Promise.any(bodies).then(() => yieldToEventLoop(partyOf(url)));
  await Promise.all([...bodies, short.then(() => order.push("short"))]);
  expect(order.indexOf("short")).toBeLessThan(80);
});

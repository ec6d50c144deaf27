import { expect, test } from "bun:test";
import { readBody } from "../../src/server/http/body.ts";

const limits = { bytes: 1000, ms: 5000 };
const headers = { "content-type": "application/json" };
const encoder = new TextEncoder();

/** A request whose body is still on its way until it is told to end. */
function openRequest(length: number) {
  let end = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      end = () => {
        controller.enqueue(encoder.encode(`{}${" ".repeat(length - 2)}`));
        controller.close();
      };
    },
  });
  const request = new Request("http://a/", {
    method: "POST",
    body,
    headers: { ...headers, "content-length": String(length) },
  });
  return { request, end };
}

test("bodies that are being received share a bounded memory, and give their part back", async () => {
  const memory = { left: 1000 };
  const [first, second] = [openRequest(600), openRequest(600)];
  const received = readBody(first.request, limits, memory);
  expect(memory.left).toBe(400);
  expect((await readBody(second.request, limits, memory)).error).toMatchObject({ code: 5001, retryAfter: 1 });
  first.end();
  expect(await received).toEqual({ value: {} });
  expect(memory.left).toBe(1000);
  second.end();
});

test("a body that fails gives its part back as well", async () => {
  const memory = { left: 1000 };
  const request = new Request("http://a/", {
    method: "POST",
    body: "{",
    headers: { ...headers, "content-length": "1" },
  });
  expect((await readBody(request, limits, memory)).error).toMatchObject({ code: 5100 });
  expect(memory.left).toBe(1000);
});

import { beforeAll, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import type { CallOptions } from "../../support/client.ts";
import { bearer, type Shop } from "../../support/factories.ts";
import { request } from "../../support/raw-http.ts";
import { onDatabase } from "../../support/suite.ts";

const lamp = JSON.stringify({ title: "Lamp", price: 1 });
const bytes = (text: string) => new TextEncoder().encode(text);
const mebibyte = 1_048_576;
/** Returns a complete product of exactly this number of bytes. */
const sized = (size: number) => lamp.padEnd(size, " ");
/** Returns a product whose title has these bytes. */
const titled = (...title: number[]) => new Uint8Array([...bytes('{"title":"'), ...title, ...bytes('","price":1}')]);

function chunked(...parts: (string | Uint8Array)[]): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(typeof part === "string" ? bytes(part) : part);
      controller.close();
    },
  });
}

const cases: [name: string, code: number | undefined, send: CallOptions][] = [
  ["JSON", undefined, { raw: lamp }],
  ["JSON in chunks", undefined, { raw: chunked(lamp.slice(0, 5), lamp.slice(5)) }],
  ["JSON with white space around it", undefined, { raw: `\r\n\t ${lamp} \n` }],
  ["JSON with a byte order mark", undefined, { raw: `\ufeff${lamp}` }],
  ["a type in capitals", undefined, { raw: lamp, headers: { "content-type": "Application/JSON;charset=utf-8" } }],
  ["a quoted UTF-8", undefined, { raw: lamp, headers: { "content-type": 'application/json; charset="UTF-8"' } }],
  ["the encoding identity", undefined, { raw: lamp, headers: { "content-encoding": "identity" } }],
  ["exactly 1 MiB", undefined, { raw: sized(mebibyte) }],
  ["exactly 1 MiB in chunks", undefined, { raw: chunked(sized(mebibyte).slice(0, 9), sized(mebibyte).slice(9)) }],
  ["one byte more than 1 MiB", 5104, { raw: sized(mebibyte + 1) }],
  ["one byte more than 1 MiB in chunks", 5104, { raw: chunked(lamp, " ".repeat(mebibyte), " ") }],
  ["2 MiB that are no JSON", 5104, { raw: "x".repeat(2 * mebibyte), headers: { "content-type": "text/plain" } }],
  ["20 MiB in chunks", 5104, { raw: chunked(...Array.from({ length: 20 }, () => " ".repeat(mebibyte))) }],
  ["no type", 5103, { raw: bytes(lamp), headers: { "content-type": null } }],
  ["text", 5103, { raw: lamp, headers: { "content-type": "text/plain" } }],
  ["a form", 5103, { raw: "title=A&price=1", headers: { "content-type": "application/x-www-form-urlencoded" } }],
  ["multipart", 5103, { raw: "--x--\r\n", headers: { "content-type": "multipart/form-data; boundary=x" } }],
  ["a type that only begins like JSON", 5103, { raw: lamp, headers: { "content-type": "application/jsonx" } }],
  ["two types", 5103, { raw: lamp, headers: { "content-type": "application/json, text/html" } }],
  ["Latin-1", 5103, { raw: lamp, headers: { "content-type": "application/json; charset=latin1" } }],
  ["gzip", 5103, { raw: Bun.gzipSync(bytes(lamp)), headers: { "content-encoding": "gzip" } }],
  ["a gzip bomb", 5103, { raw: Bun.gzipSync(new Uint8Array(50 * mebibyte)), headers: { "content-encoding": "gzip" } }],
  ["an unknown encoding", 5103, { raw: lamp, headers: { "content-encoding": "rot13" } }],
  ["gzip that is not declared", 5100, { raw: Bun.gzipSync(bytes(lamp)) }],
  ["an open brace", 5100, { raw: "{bad" }],
  ["a trailing comma", 5100, { raw: '{"title":"A","price":1,}' }],
  ["NaN", 5100, { raw: '{"title":"A","price":NaN}' }],
  ["two values", 5100, { raw: `${lamp}${lamp}` }],
  ["an array", 5100, { raw: `[${lamp}]` }],
  ["a text", 5100, { raw: '"title"' }],
  ["null", 5100, { raw: "null" }],
  ["white space only", 5100, { raw: "  \n" }],
  ["a NUL only", 5100, { raw: "\0" }],
  ["invalid UTF-8", 5100, { raw: titled(0xff, 0xfe) }],
  ["a UTF-8 surrogate", 5100, { raw: titled(0xed, 0xa0, 0x80) }],
  ["an overlong UTF-8 slash", 5100, { raw: titled(0xc0, 0xaf) }],
  ["JSON in UTF-16", 5100, { raw: new Uint8Array(Buffer.from(lamp, "utf16le")) }],
  ["an array 500,000 deep", 5100, { raw: "[".repeat(500_000) + "]".repeat(500_000) }],
  ["10,000 open brackets", 5100, { raw: "[".repeat(10_000) }],
  ["more values than anything needs", 5100, { raw: `{"metadata":{"a":[${"0,".repeat(10_000)}0]}}` }],
  ["metadata 10,000 deep", 5100, { raw: `{"metadata":${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}}` }],
  ["a number too large", 5102, { raw: '{"title":"A","price":1e400}' }],
  ["10,000 unknown names", 5102, { raw: `{${Array.from({ length: 9_000 }, (_, n) => `"k${n}":1`).join()}}` }],
  ["one very long unknown name", 5102, { raw: `{"title":"A","price":1,"${"k".repeat(100_000)}":1}` }],
  ["no body", 5102, {}],
  ["an empty body", 5102, { raw: "" }],
  ["an empty body of another type", 5102, { raw: "", headers: { "content-type": "text/plain" } }],
];

onDatabase("file", (suite) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
  });

  test("a number in a body that a double would round is refused only for fields that are numbers in the schema", async () => {
    const messageOf = async (request: string, raw: string) => {
      const { error } = await shop.callAnonymously(request, { auth: shop.auth, raw });
      return error?.details?.map(({ message }) => message);
    };
    const [price, text] = ['"price":1.00000000000000000001', '"resource_id":1.00000000000000000001'];
    expect(await messageOf("POST /products/", `{"title":"Lamp",${price}}`)).toEqual([
      "has more digits than a number can hold exactly",
    ]);
    const likes = await messageOf("POST /likes/", `{"resource_type":"product",${text}}`);
    expect(likes).toEqual([expect.stringContaining("must be")]);
  });

  const ofVisitors = ["POST /auth/login/", "POST /users/sign-up/", "POST /likes/", "POST /notifications/register/"];
  test.each(ofVisitors)("%s, which any visitor may call, accepts at most 64 KiB", async (request) => {
    const codes: unknown[] = [];
    for (const size of [65_536, 65_537]) {
      const auth = bearer(await shop.issueKey({ scopes: ["customers:sign-up"] }));
      codes.push((await shop.callAnonymously(request, { auth, raw: sized(size) })).code);
    }
    expect(codes).toEqual([5102, 5104]);
  });

  test.each(cases)("a body that is %s gets the code %p", async (_, code, send) => {
    const reply = await shop.call("POST /products/", send);
    expect(reply.code).toBe(code);
    if (code !== undefined) expect(reply.text.length).toBeLessThan(20_000);
  });

  test("errors of a body are the same for PUT, PATCH and DELETE as for POST", async () => {
    const { id } = await shop.createProduct();
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const call = (raw: string, type = "application/json") =>
        shop.call(`${method} /products/${id}/`, { raw, headers: { "content-type": type } });
      const codes = [
        (await call("{bad")).code,
        (await call("<a/>", "text/xml")).code,
        (await call("[]")).code,
        (await call(sized(2 * mebibyte))).code,
      ];
      expect([method, codes]).toEqual([method, [5100, 5103, 5100, 5104]]);
    }
  });

  test("a body of a GET is neither read nor refused", async () => {
    const head = `GET /products/?namespace=${shop.namespace} HTTP/1.1`;
    const headers = { authorization: shop.auth, "content-type": "text/xml", "content-length": "4" };
    expect((await request(suite.app, { head, headers, body: "<a/>" })).status).toBe(200);
  });

  test.each([2, 60])("a client that sends %d MiB before it reads gets the reply", async (size) => {
    const { hostname, port } = new URL(suite.app.url);
    const body = Buffer.alloc(size * mebibyte, " ");
    const head = `POST /likes/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const socket = connect(Number(port), hostname).pause();
    socket.write(head);
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.write(body, (error) => (error ? reject(error) : resolve()));
    });
    const [reply] = (await once(socket.resume(), "data")) as [Buffer];
    expect(reply.toString()).toMatch(/^HTTP\/1.1 413 [\s\S]*"code":5104/);
    socket.destroy();
  });
});

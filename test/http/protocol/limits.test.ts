import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../support/app.ts";
import type { Shop } from "../../support/factories.ts";
import { checkReply } from "../../support/invariants.ts";
import { formatHead, openConnection, type RawReply, request } from "../../support/raw-http.ts";
import { onDatabase } from "../../support/suite.ts";

const body = '{"title":"Lamp","price":1}';

onDatabase("file", (suite) => {
  let shop: Shop;
  let app: TestApp;
  beforeAll(async () => {
    shop = await suite.shop();
    app = startTestApp({ db: suite.database.db, clock: suite.app.clock, bodyLimits: { bytes: 1000, ms: 150 } });
  });
  afterAll(() => app.stop());

  const head = () => `POST /products/?namespace=${shop.namespace} HTTP/1.1`;
  const usual = (more: Record<string, string> = {}) => ({
    authorization: shop.auth,
    "content-type": "application/json",
    ...more,
  });
  const codeOf = (reply: RawReply | null) => {
    if (reply === null) throw new Error("The server closed without an answer");
    return checkReply({ method: "POST", ...reply })?.error?.code ?? reply.status;
  };

  const declared = (length: number) => ({ "content-length": String(length) });
  const chunks = { "transfer-encoding": "chunked" };
  test.each<[what: string, code: number, headers: Record<string, string>, sent: string]>([
    ["that never arrives", 5100, declared(26), body.slice(0, 10)],
    ["in chunks that never ends", 5100, chunks, '5\r\n{"tit\r\n'],
    ["in chunks that is too large and never ends", 5100, chunks, `3e9\r\n${" ".repeat(1001)}\r\n`],
    ["that is declared far too large, before it is sent", 5104, declared(2 ** 30), ""],
  ])("a body %s is refused in time, and its connection ends", async (_, code, headers, sent) => {
    const connection = openConnection(app);
    connection.write(`${formatHead({ head: head(), headers: usual(headers) })}${sent}`);
    const reply = await connection.read();
    expect([codeOf(reply), reply?.headers.get("connection")]).toEqual([code, "close"]);
    await connection.closed;
  });

  test("a client that waits for 100 Continue gets a reply", async () => {
    const connection = openConnection(app);
    connection.write(formatHead({ head: head(), headers: usual({ "content-length": "26", expect: "100-continue" }) }));
    expect((await connection.read())?.status).toBe(100);
    connection.write(body);
    expect((await connection.read())?.status).toBe(201);
  });

  test("a refused request with an endless body ends its connection", async () => {
    const endless = { "transfer-encoding": "chunked", authorization: "Bearer a:b" };
    for (const [line, code] of [
      [head(), 5203],
      ["POST /nowhere/ HTTP/1.1", 5106],
    ] as const) {
      const connection = openConnection(app);
      connection.write(`${formatHead({ head: line, headers: usual(endless) })}5\r\n{"tit\r\n`);
      const reply = await connection.read();
      expect([codeOf(reply), reply?.headers.get("connection")]).toEqual([code, "close"]);
      await connection.closed;
    }
  });

  const refused = [
    [head, { authorization: "Bearer a:b" }, 5203],
    [() => "POST /nowhere/ HTTP/1.1", {}, 5106],
    [() => head().replace("POST", "PATCH"), {}, 5105],
  ] as const;

  test("a refused request whose connection will close gets its reply only after its body", async () => {
    const half = " ".repeat(100_000);
    for (const [line, headers, code] of refused) {
      for (const [framing, ...pieces] of [
        [{ "content-length": "200000", connection: "close" }, half, half],
        [{ "transfer-encoding": "chunked" }, `186a0\r\n${half}\r\n`, "0\r\n\r\n"],
      ] as const) {
        const connection = openConnection(suite.app);
        connection.write(formatHead({ head: line(), headers: usual({ ...headers, ...framing }) }));
        let reply: RawReply | null | undefined;
        const read = connection.read().then((answer) => {
          reply = answer;
        });
        for (const piece of pieces) {
          await Bun.sleep(10);
          expect([code, reply]).toEqual([code, undefined]);
          connection.write(piece);
        }
        await read;
        expect(codeOf(reply ?? null)).toBe(code);
        if ("connection" in framing) await connection.closed;
        else {
          connection.write(formatHead({ head: head().replace("POST", "GET"), headers: usual() }));
          expect((await connection.read())?.status).toBe(200);
        }
        connection.end();
      }
    }
  });

  test("a refused request gets its reply at once if its connection stays open, or if the client waits for 100 Continue", async () => {
    for (const [line, headers, code] of refused) {
      for (const more of [{}, { connection: "close", expect: "100-continue" }] as Record<string, string>[]) {
        const connection = openConnection(suite.app);
        const started = performance.now();
        connection.write(
          formatHead({ head: line(), headers: usual({ ...headers, "content-length": "5000000", ...more }) }),
        );
        let reply = await connection.read();
        if (reply?.status === 100) reply = await connection.read();
        expect(codeOf(reply)).toBe(code);
        expect(performance.now() - started).toBeLessThan(5000);
        connection.end();
      }
    }
  });

  test("a refused request whose body does not arrive, or is far too large, gets its reply in time", async () => {
    for (const [line, headers, code] of refused) {
      for (const length of ["26", String(2 ** 30)]) {
        const connection = openConnection(app);
        const framing = { "content-length": length, connection: "close" };
        connection.write(formatHead({ head: line(), headers: usual({ ...headers, ...framing }) }));
        expect(codeOf(await connection.read())).toBe(code);
        await connection.closed;
      }
    }
  });

  test("a large body is not parsed as the next request, also after wrong credentials", async () => {
    const smuggled = `GET /smuggled/ HTTP/1.1\r\nhost: x\r\n\r\n`;
    for (const authorization of [shop.auth, "Bearer a:b"]) {
      const connection = openConnection(app);
      const filler = smuggled.repeat(30);
      const headers = usual({ authorization, "content-length": String(filler.length) });
      connection.write(formatHead({ head: head(), headers }) + filler);
      const expected = authorization === shop.auth ? 5104 : 5203;
      expect(codeOf(await connection.read())).toBe(expected);
      const next = head().replace("POST", "GET");
      connection.write(formatHead({ head: next, headers: { authorization: shop.auth, "x-request-id": "after-it-1" } }));
      expect((await connection.read())?.headers.get("x-request-id")).toBe("after-it-1");
      connection.end();
    }
    expect(app.entries.some(({ path }) => path.includes("smuggled"))).toBe(false);
  });

  test("garbage after a valid request affects neither its reply nor the server", async () => {
    const connection = openConnection(app);
    const headers = { authorization: shop.auth };
    connection.write(formatHead({ head: `GET /products/?namespace=${shop.namespace} HTTP/1.1`, headers }));
    expect(codeOf(await connection.read())).toBe(200);
    connection.write("\x16\x03\x01 this is no HTTP\r\n\r\n");
    await connection.closed;
    expect((await shop.call("GET /products/")).status).toBe(200);
  });

  test("a caller who disconnects in the middle of a body does not affect the server", async () => {
    for (let n = 0; n < 20; n++) {
      const connection = openConnection(app);
      connection.write(formatHead({ head: head(), headers: usual({ "content-length": "26" }) }) + body.slice(0, n));
      connection.end();
    }
    expect((await shop.call("GET /products/")).status).toBe(200);
    const { status } = await request(app, { head: head(), headers: usual({ "content-length": "26" }), body });
    expect(status).toBe(201);
  });
});

import { beforeAll, expect } from "bun:test";
import { setOrigins } from "../../../src/server/modules/app-keys/origins.ts";
import { publishKey, unpublishKey } from "../../../src/server/modules/app-keys/service.ts";
import { type ApiReply, newAddress } from "../../support/client.ts";
import type { Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const home = "https://shop.example.com";
const elsewhere = "https://evil.example";
const allowed = (reply: ApiReply) => reply.headers.get("access-control-allow-origin");

onDatabase("file", (suite) => {
  const { test } = suite;
  let shop: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
    await setOrigins(suite.app.system, { appId: shop.key.app_id, origins: ["shop.example.com"] });
  });

  test("a preflight of a route allows any origin, the route's methods, and the headers of calls", async () => {
    for (const [path, methods] of [
      ["/products/", "GET, POST, HEAD, OPTIONS"],
      ["/products", "GET, POST, HEAD, OPTIONS"],
      ["/products/prod_1/", "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"],
    ] as const) {
      const reply = await shop.callAnonymously(`OPTIONS ${path}`, {
        namespace: null,
        headers: { origin: elsewhere, "access-control-request-method": "POST" },
      });
      expect(reply.status).toBe(200);
      expect(allowed(reply)).toBe(elsewhere);
      expect(reply.headers.get("vary")).toContain("Origin");
      expect(reply.headers.get("access-control-allow-methods")).toBe(methods);
      expect(reply.headers.get("allow")).toBe(methods);
      const names = reply.headers.get("access-control-allow-headers")?.toLowerCase().split(", ");
      expect(names).toEqual(expect.arrayContaining(["authorization", "content-type", "if-match", "if-none-match"]));
      expect(names).toEqual(expect.arrayContaining(["idempotency-key", "x-request-id", "cache-control", "pragma"]));
      expect(names).toEqual(expect.arrayContaining(["x-requested-with", "traceparent", "tracestate", "*"]));
      expect(reply.headers.get("access-control-max-age")).toBe("86400");
    }
  });

  test("a preflight of an unknown route succeeds, so that the page can read the 404", async () => {
    const ask = (headers: Record<string, string>) =>
      shop.callAnonymously("OPTIONS /no/such/path", { namespace: null, headers: { origin: elsewhere, ...headers } });
    for (const method of ["GET", "DELETE", "PATCH"]) {
      const reply = await ask({ "access-control-request-method": method });
      expect([reply.status, allowed(reply)]).toEqual([200, elsewhere]);
      expect(reply.headers.get("access-control-allow-methods")).toContain(method);
      expect(reply.headers.get("access-control-allow-headers")).toContain("Authorization");
    }
    expect((await ask({})).code).toBe(5106);
  });

  test("without an Origin no reply has CORS headers, and OPTIONS returns the methods of a path", async () => {
    const reply = await shop.callAnonymously("OPTIONS /products/", { namespace: null });
    expect([reply.status, reply.headers.get("allow")]).toEqual([200, "GET, POST, HEAD, OPTIONS"]);
    const list = await (await suite.shop()).call("GET /products/");
    const names = [...reply.headers.keys(), ...list.headers.keys()];
    expect(names.filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });

  test("an allowed origin may read the reply and its important headers", async () => {
    for (const request of ["GET /products/", "HEAD /products/", "GET /products/prod_1/", "GET /products/?limit=0"]) {
      const reply = await shop.call(request.replace("?limit=0", ""), {
        headers: { origin: home },
        ...(request.includes("?") && { query: { limit: 0 } }),
      });
      expect(allowed(reply)).toBe(home);
      expect(reply.headers.get("access-control-allow-credentials")).toBeNull();
      expect(reply.headers.get("vary")).toContain("Origin");
      const exposed = reply.headers.get("access-control-expose-headers")?.split(", ");
      expect(exposed).toEqual(
        expect.arrayContaining(["X-Request-Id", "Retry-After", "ETag", "Content-Language", "Idempotency-Replayed"]),
      );
    }
  });

  test("only an allowed origin may read why its key was refused", async () => {
    const { clock, system } = suite.app;
    const open = await suite.shop({ key: { expiresAt: new Date(clock.now() + 60_000).toISOString() } });
    const appId = open.key.app_id;
    await setOrigins(system, { appId, origins: ["shop.example.com"] });
    const replies = async (auth = open.auth, from = open) => {
      const read = async (origin: string) => {
        const reply = await from.call("GET /products/", { headers: { origin }, auth });
        return [reply.code, allowed(reply), reply.error?.message];
      };
      return [await read(home), await read(elsewhere)];
    };
    const message = "App authentication failed.";
    const refused = [
      [5203, home, message],
      [5203, null, message],
    ];
    expect(await replies(`Bearer ${appId}:wrong`)).toEqual(refused);
    await unpublishKey(system, appId);
    expect(await replies()).toEqual(refused);
    await publishKey(system, appId);
    expect((await replies())[0]?.[1]).toBe(home);
    // The other store does not have this key.
    expect(await replies(open.auth, shop)).toEqual(refused.map(([code]) => [code, null, message]));
    clock.advance(60_000);
    expect(await replies()).toEqual(refused);
    const address = newAddress();
    const flood = () => open.call("GET /products/", { headers: { origin: home }, address });
    for (let n = 0; n < 10; n++) await flood();
    const blocked = await flood();
    expect([blocked.code, allowed(blocked)]).toEqual([5209, home]);
  });

  test("no origin may read the reply to app credentials that are unknown or malformed, or that do not allow this origin", async () => {
    const { app_id, app_secret } = shop.key;
    const calls: [number, Record<string, unknown>][] = [
      [5203, { headers: { origin: elsewhere } }],
      [5203, { headers: { origin: "null" } }],
      [5203, { headers: { origin: home }, auth: "Bearer a:b" }],
      [5202, { headers: { origin: home }, auth: "Bearer a" }],
      [5203, { headers: { origin: elsewhere }, auth: null, query: { app_id, app_secret } }],
    ];
    for (const [code, options] of calls) {
      const reply = await shop.call("GET /products/", options);
      expect([reply.code, allowed(reply)]).toEqual([code, null]);
    }
  });

  test("any origin may read the reply to a call without app credentials, including errors such as an unknown store", async () => {
    const headers = { origin: elsewhere };
    for (const [code, options] of [
      [5206, {}],
      [5101, { namespace: null }],
      [5215, { namespace: "no-such-store" }],
    ] as const) {
      const reply = await shop.callAnonymously("GET /products/", { headers, ...options });
      expect([reply.code, allowed(reply)]).toEqual([code, elsewhere]);
    }
    const misspelt = await shop.call("GET /products/", { headers, namespace: "no-such-store" });
    expect([misspelt.code, allowed(misspelt)]).toEqual([5215, elsewhere]);
    const missing = await shop.callAnonymously("GET /no/such/path", { headers });
    expect([missing.code, allowed(missing)]).toEqual([5106, elsewhere]);
  });

  test("a write from a refused origin has no effect", async () => {
    const body = { title: "Lamp", price: 1 };
    await shop.call("POST /products/", { body, headers: { origin: elsewhere } });
    expect((await shop.call("GET /products/", { headers: { origin: home } })).data).toEqual([] as never);
  });
});

import { beforeAll, expect, test } from "bun:test";
import type { Shop } from "../../support/factories.ts";
import { checkReply } from "../../support/invariants.ts";
import { request } from "../../support/raw-http.ts";
import { onDatabase } from "../../support/suite.ts";

onDatabase("file", (suite) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
  });

  test("an unknown path gets 5106 for every method, with and without credentials", async () => {
    for (const path of ["/nothing/", "/products/a/b/", "/product/", "/Products/"]) {
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]) {
        const named = await shop.call(`${method} ${path}`);
        const unnamed = await shop.callAnonymously(`${method} ${path}`, { namespace: null });
        const status = method === "HEAD" ? 404 : 5106;
        const seen = [named, unnamed].map((reply) => reply.code ?? reply.status);
        expect({ method, path, seen }).toEqual({ method, path, seen: [status, status] });
      }
    }
  });

  test("a wrong method gets 5105 with Allow, before any other check", async () => {
    for (const [path, methods, allow] of [
      ["/products/", ["PUT", "PATCH", "DELETE", "PROPFIND"], "GET, POST, HEAD, OPTIONS"],
      ["/products", ["PUT", "PATCH", "DELETE"], "GET, POST, HEAD, OPTIONS"],
      ["/products/prod_1/", ["POST"], "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"],
      ["/products/prod_1", ["POST"], "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"],
      ["/openapi.json", ["POST", "DELETE"], "GET, HEAD"],
      ["/health/live", ["POST"], "GET, HEAD"],
    ] as const) {
      for (const method of methods) {
        const raw = { head: `${method} ${path} HTTP/1.1`, headers: { "content-length": "4" }, body: "{bad" };
        const { status, headers, text } = await request(suite.app, raw);
        expect({ method, path, status, allow: headers.get("allow") }).toEqual({ method, path, status: 405, allow });
        expect(JSON.parse(text).error.code).toBe(5105);
      }
    }
  });

  test("TRACE and CONNECT are refused like other wrong methods, and echo nothing", async () => {
    for (const method of ["TRACE", "CONNECT"]) {
      const headers = { authorization: shop.auth, "x-echo": "not-to-be-echoed" };
      const reply = await request(suite.app, { head: `${method} /products/ HTTP/1.1`, headers });
      expect(reply.status).toBe(405);
      expect(reply.text).not.toContain("not-to-be-echoed");
    }
  });

  test("a path works with and without its trailing slash, and is not redirected", async () => {
    const { id } = await shop.createProduct();
    for (const path of ["/products", `/products/${id}`]) {
      const [bare, slashed] = [await shop.call(`GET ${path}`), await shop.call(`GET ${path}/`)];
      expect([bare.status, bare.data]).toEqual([200, slashed.data]);
    }
    const body = { title: "Lamp", price: 1 };
    expect((await shop.call("POST /products", { body })).status).toBe(201);
    for (const method of ["PATCH", "PUT", "DELETE"]) {
      const sent = method === "DELETE" ? {} : { body };
      expect((await shop.call(`${method} /products/${id}`, sent)).status).toBe(200);
    }
  });

  test("HEAD has the status and headers of GET and no body", async () => {
    const { id } = await shop.createProduct();
    for (const [path, options] of [
      ["/products/", {}],
      [`/products/${id}/`, {}],
      [`/products/${id}/`, { headers: { origin: "https://a.example" } }],
      ["/products/prod_1/", {}],
      ["/products/", { query: { limit: 0 } }],
      ["/products/", { namespace: null }],
      ["/products/", { auth: null }],
      ["/nothing/", {}],
      ["/health/live", {}],
      ["/openapi.json", {}],
    ] as const) {
      const headers = {
        ...("headers" in options ? options.headers : {}),
        "x-request-id": "the-same-for-both",
        "accept-encoding": "identity",
      };
      const query = new URLSearchParams({
        ...(!("namespace" in options) && { namespace: shop.namespace }),
        ...("query" in options && { limit: "0" }),
      });
      const url = `${suite.app.url}${path}?${query}`;
      const authorization: Record<string, string> = "auth" in options ? {} : { authorization: shop.auth };
      const [get, head] = await Promise.all(
        ["GET", "HEAD"].map((method) => fetch(url, { method, headers: { ...headers, ...authorization } })),
      );
      const shown = (response?: Response) =>
        [response?.status, [...(response?.headers ?? [])].filter(([name]) => name !== "date").toSorted()] as const;
      expect(shown(head)).toEqual(shown(get));
      expect(await head?.text()).toBe("");
    }
  });

  test("an id may be any text: ids with encoded slashes, NUL, dots or other scripts, and long ids, are not found", async () => {
    for (const id of ["a%2Fb", "%00", "a%00b", "%E7%81%AF", "%F0%9F%92%A1", "'%20or%201=1--", "x".repeat(2000)]) {
      const { code } = await shop.call(`GET /products/${id}/`);
      expect({ id: id.slice(0, 20), code }).toEqual({ id: id.slice(0, 20), code: 5301 });
    }
  });

  test("an id that is not valid percent-encoded UTF-8 gets 5100", async () => {
    for (const id of ["%ZZ", "%", "%ff", "%c3%28", "a%2", "%ed%a0%80"]) {
      const head = `GET /products/${id}/?namespace=${shop.namespace} HTTP/1.1`;
      const reply = await request(suite.app, { head, headers: { authorization: shop.auth } });
      checkReply({ method: "GET", ...reply });
      expect({ id, code: JSON.parse(reply.text).error.code }).toEqual({ id, code: 5100 });
    }
  });

  test("the host of a request has no effect", async () => {
    for (const host of ["a", "api", "evil.example:99", "[::1]"]) {
      const head = `GET /products/?namespace=${shop.namespace} HTTP/1.1`;
      const { status } = await request(suite.app, { head, headers: { host, authorization: shop.auth } });
      expect({ host, status }).toEqual({ host, status: 200 });
    }
    const absolute = `GET http://evil.example/products/?namespace=${shop.namespace} HTTP/1.1`;
    expect((await request(suite.app, { head: absolute, headers: { authorization: shop.auth } })).status).toBe(200);
  });
});

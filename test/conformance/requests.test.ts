import { beforeAll, expect, test } from "bun:test";
import { routes } from "../../src/server/api/routes.ts";
import type { ApiReply } from "../support/client.ts";
import type { ProductReply, Shop } from "../support/factories.ts";
import { request } from "../support/raw-http.ts";
import { onDatabase } from "../support/suite.ts";

const lamp = { title: "Lamp", price: 19.99 };

onDatabase("file", (suite) => {
  let shop: Shop;
  let other: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
    other = await suite.shop();
  });

  /** Returns one reply of each kind. */
  const replies = async (): Promise<[name: string, reply: ApiReply][]> => {
    const { id } = await shop.createProduct();
    const body = { ...lamp, price: -1 };
    return [
      ["a read", await shop.call(`GET /products/${id}/`)],
      ["a list", await shop.call("GET /products/")],
      ["a creation", await shop.call("POST /products/", { body: lamp })],
      ["a deletion", await shop.call(`DELETE /products/${id}/`)],
      ["an unknown path", await shop.call("GET /nothing/")],
      ["a wrong method", await shop.call("PUT /products/")],
      ["an unknown record", await shop.call(`GET /products/${id}/`)],
      ["a malformed body", await shop.call("POST /products/", { raw: "{bad" })],
      [
        "a body of another type",
        await shop.call("POST /products/", { raw: "<a/>", headers: { "content-type": "text/xml" } }),
      ],
      ["a body too large", await shop.call("POST /products/", { raw: " ".repeat(2_097_152) })],
      ["an invalid field", await shop.call("POST /products/", { body })],
      ["no credentials", await shop.callAnonymously("GET /products/")],
      ["wrong credentials", await shop.call("GET /products/", { auth: "Bearer a:b" })],
      ["an unknown store", await shop.call("GET /products/", { namespace: "no-such-store" })],
      ["no store", await shop.call("GET /products/", { namespace: null })],
      ["a preflight", await shop.call("OPTIONS /products/", { headers: { origin: "https://a.example" } })],
    ];
  };

  test("§1 every request targets one tenant, named by namespace", async () => {
    const { id } = await shop.createProduct();
    const here = await shop.call<ProductReply[]>("GET /products/");
    const there = await other.call<ProductReply[]>("GET /products/");
    expect(here.data.map((product) => product.id)).toContain(id);
    expect(there.data.map((product) => product.id)).not.toContain(id);
    expect((await other.call(`GET /products/${id}/`)).status).toBe(404);
  });

  test("§2, §7 every response has X-Request-Id, its request_id, data only on success, and is JSON, errors with a numeric code", async () => {
    for (const [name, { status, text, headers }] of await replies()) {
      const { request_id, data, error } = JSON.parse(text);
      const has = { id: request_id, data: data !== undefined, code: typeof error?.code };
      const id = headers.get("x-request-id");
      expect([name, id]).toEqual([name, expect.stringMatching(/\S/)]);
      expect([name, has]).toEqual([name, { id, data: status < 400, code: status < 400 ? "undefined" : "number" }]);
      expect([name, headers.get("content-type")]).toEqual([name, "application/json; charset=utf-8"]);
      expect(text).not.toMatch(/<html|<!doctype|\bat .+:\d+:\d+|SQLITE/i);
    }
  });

  test("§2 namespace is required on every request", async () => {
    for (const { method, path } of routes) {
      const { code } = await shop.callAnonymously(`${method} ${path.replace(/:\w+/g, "x")}`, { namespace: null });
      expect({ method, path, code }).toEqual({ method, path, code: 5101 });
    }
  });

  test("§2 namespace is taken from the query or the body", async () => {
    expect((await shop.call("POST /products/", { body: lamp })).status).toBe(201);
    const inBody = { ...lamp, namespace: shop.namespace };
    expect((await shop.call("POST /products/", { namespace: null, body: inBody })).status).toBe(201);
  });

  test("§2 lang in the query is the language code on product creation", async () => {
    const { data } = await shop.call<ProductReply>("POST /products/", { body: lamp, query: { lang: "de" } });
    expect(data.lang).toBe("de");
  });

  test("§2 user_id and token are taken from the query", async () => {
    const query = { user_id: "usr_1", token: "v2.never-issued" };
    expect((await shop.callAnonymously("GET /products/", { query })).code).toBe(5205);
  });

  test("§2 when a key is in both the query string and a JSON body, the query string wins", async () => {
    const { app_id, app_secret } = shop.key;
    const wrong = {
      namespace: "no-such-store",
      app_id: "app_x",
      app_secret: "x",
      lang: "xx",
      user_id: "x",
      token: "x",
    };
    const query = { app_id, app_secret, lang: "fr" };
    const won = await shop.call<ProductReply>("POST /products/", { auth: null, query, body: { ...lamp, ...wrong } });
    expect([won.status, won.data.lang]).toEqual([201, "fr"]);
    const lost = await shop.call("POST /products/", {
      auth: null,
      query: { app_id, app_secret: "wrong" },
      body: { ...lamp, app_secret },
    });
    expect(lost.code).toBe(5203);
  });

  test("§2 a product has a title, a string, and a price, a number", async () => {
    const { text, data } = await shop.call<ProductReply>("POST /products/", { body: lamp });
    expect(data).toMatchObject(lamp);
    expect(text).toContain('"price":19.99,');
  });

  test("§9 resource paths carry no version segment", async () => {
    for (const { path } of routes) expect(path).not.toMatch(/\/v\d/);
    const raw = {
      head: `GET /v1/products/?namespace=${shop.namespace} HTTP/1.1`,
      headers: { authorization: shop.auth },
    };
    expect((await request(suite.app, raw)).status).toBe(404);
  });
});

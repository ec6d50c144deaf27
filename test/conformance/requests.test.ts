import { beforeAll, expect, test } from "bun:test";
import { routes } from "../../src/server/api/routes.ts";
import { type ApiReply, newAddress } from "../support/client.ts";
import type { ProductReply, Shop } from "../support/factories.ts";
import { request } from "../support/raw-http.ts";
import { onEachDatabase } from "../support/suite.ts";

const lamp = { title: "Lamp", price: 19.99 };

onEachDatabase((suite) => {
  let shop: Shop;
  let other: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
    other = await suite.shop();
  });

  /** One reply of each kind that the service can give. */
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
      ["a field at fault", await shop.call("POST /products/", { body })],
      ["no credentials", await shop.callAnonymously("GET /products/")],
      ["wrong credentials", await shop.call("GET /products/", { auth: "Bearer a:b", address: newAddress() })],
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

  test("§2 X-Request-Id is present on every response", async () => {
    for (const [name, { headers }] of await replies()) {
      expect([name, headers.get("x-request-id")]).toEqual([name, expect.stringMatching(/\S/)]);
    }
  });

  test("§2 request_id is present on every response and equals the header", async () => {
    for (const [name, { headers, text }] of await replies()) {
      expect([name, JSON.parse(text).request_id]).toEqual([name, headers.get("x-request-id")]);
    }
  });

  test("§2 data carries the result on success, and only then", async () => {
    for (const [name, { status, text }] of await replies()) {
      expect([name, "data" in JSON.parse(text)]).toEqual([name, status < 400]);
    }
  });

  test("§2 responses always have content type application/json; charset=utf-8, errors included", async () => {
    for (const [name, { headers }] of await replies()) {
      expect([name, headers.get("content-type")]).toEqual([name, "application/json; charset=utf-8"]);
    }
  });

  test("§2 the body is always valid JSON and never raw server output", async () => {
    for (const [name, { text }] of await replies()) {
      expect([name, typeof JSON.parse(text)]).toEqual([name, "object"]);
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

  test("§2 app_id and app_secret are taken from the header, the query and the body", async () => {
    const { app_id, app_secret } = shop.key;
    expect((await shop.call("POST /products/", { body: lamp })).status).toBe(201);
    const query = { app_id, app_secret };
    expect((await shop.call("POST /products/", { auth: null, query, body: lamp })).status).toBe(201);
    expect((await shop.call("POST /products/", { auth: null, body: { ...lamp, ...query } })).status).toBe(201);
  });

  test("§2 user_id and token are taken from the query", async () => {
    const query = { user_id: "usr_1", token: "v2.never-issued" };
    expect((await shop.callAnonymously("GET /products/", { query, address: newAddress() })).code).toBe(5205);
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
      address: newAddress(),
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

  test("§7 every error response is JSON and carries request_id, the X-Request-Id header and a numeric code", async () => {
    for (const [name, { status, text, headers }] of await replies()) {
      if (status < 400) continue;
      const body = JSON.parse(text);
      expect([name, body.request_id, typeof body.error.code]).toEqual([name, headers.get("x-request-id"), "number"]);
    }
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

import { beforeAll, expect } from "bun:test";
import { suspendTenant } from "../../../src/server/modules/tenants/service.ts";
import type { CallOptions } from "../../support/client.ts";
import { bearer, type Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const lamp = { title: "Lamp", price: 1 };
const get = "GET /products/";
const post = "POST /products/";
const xml = { raw: "<a/>", headers: { "content-type": "text/xml" } };

onDatabase("file", (suite) => {
  const { test } = suite;
  let shop: Shop;
  let other: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
    other = await suite.shop();
  });

  test("errors and successes contain the request id that the caller sent", async () => {
    const headers = { "x-request-id": "from-the-caller" };
    for (const request of [get, "GET /nothing/", "PUT /products/", "OPTIONS /products/", "GET /health/live"]) {
      expect((await shop.call(request, { headers })).requestId).toBe("from-the-caller");
    }
  });

  test("the namespace may be in the query or the body, and the query takes precedence", async () => {
    const inBody = (namespace: unknown, options: CallOptions = {}) =>
      shop.call(post, { namespace: null, body: { ...lamp, namespace }, ...options });
    expect((await inBody(shop.namespace)).status).toBe(201);
    expect((await inBody("no-such-store")).code).toBe(5215);
    expect((await inBody("no-such-store", { namespace: shop.namespace })).status).toBe(201);
    expect((await inBody(shop.namespace, { namespace: "no-such-store" })).code).toBe(5215);
    // The key belongs to the store in the body. The query names another store, which refuses the key.
    expect((await inBody(shop.namespace, { namespace: other.namespace })).code).toBe(5203);
    expect((await inBody(shop.namespace, { namespace: "" })).code).toBe(5202);
    for (const value of [5, null, {}, [shop.namespace], true, ""]) expect((await inBody(value)).code).toBe(5202);
  });

  test("a missing namespace gets 5202 with app credentials, 5204 with user credentials, and otherwise 5101", async () => {
    const token = { user_id: "usr_1", token: "v2.x" };
    for (const request of [get, post, "PATCH /products/prod_1/", "DELETE /products/prod_1/"]) {
      for (const [code, options] of [
        [5101, { auth: null }],
        [5202, {}],
        [5202, { auth: "Bearer a:b" }],
        [5202, { auth: "Bearer a" }],
        [5202, { query: token }],
        [5204, { auth: null, query: token }],
        [5204, { auth: "Bearer usr_1:v2.x" }],
      ] as const) {
        expect((await shop.call(request, { ...options, namespace: null })).code).toBe(code);
      }
    }
    expect((await shop.call(get, { auth: null, namespace: "" })).code).toBe(5101);
    expect((await shop.call(post, { namespace: null, body: {} })).code).toBe(5202);
  });

  test("an unknown, suspended or misspelt store gets 5215 with any credentials", async (suspended) => {
    await suspendTenant(suite.app.system, suspended.namespace);
    const { namespace } = shop;
    const names = ["no-such-store", suspended.namespace, namespace.toUpperCase(), ` ${namespace}`];
    names.push("../x", "a\0", "'--", "*", "%", "x".repeat(5000));
    for (const namespace of names) {
      for (const auth of [shop.auth, suspended.auth, "Bearer a:b", "Bearer a", null]) {
        const { code, status } = await shop.call(get, { namespace, auth });
        expect([code, status]).toEqual([5215, 404]);
      }
    }
  });

  test("checks run in a fixed order, so that a later error never hides an earlier one", async () => {
    const id = (await shop.createProduct()).id;
    const readonly = bearer(await shop.issueKey({ scopes: ["products:read"] }));
    const bad = { raw: "{bad" };
    const outdated = { headers: { "if-match": '"9"' } };
    const table: [name: string, request: string, options: CallOptions, code: number][] = [
      ["route before namespace", "GET /nothing/", { namespace: null }, 5106],
      ["method before namespace", "PUT /products/", { namespace: null, ...bad }, 5105],
      ["namespace before credentials", get, { namespace: null, auth: "Bearer usr_1" }, 5204],
      ["store before credentials", get, { namespace: "no-such-store", auth: "Bearer a:b" }, 5215],
      ["store before body", post, { namespace: "no-such-store", ...bad }, 5215],
      ["missing credentials before body", post, { auth: null, ...bad }, 5206],
      ["malformed credentials before body", post, { auth: "Bearer a", ...bad }, 5202],
      ["wrong credentials before body", post, { auth: "Bearer a:b", ...bad }, 5203],
      ["wrong credentials before media type", post, { auth: "Bearer a:b", ...xml }, 5203],
      ["wrong credentials before size", post, { auth: "Bearer a:b", raw: " ".repeat(1_100_000) }, 5203],
      ["wrong credentials before unknown fields", post, { auth: "Bearer a:b", body: { x: 1 } }, 5203],
      ["wrong credentials before query", get, { auth: "Bearer a:b", query: { limit: 0 } }, 5203],
      ["wrong credentials before whether the record exists", "GET /products/prod_1/", { auth: "Bearer a:b" }, 5203],
      ["permission before body", post, { auth: readonly, ...bad }, 5300],
      ["permission before whether the record exists", "DELETE /products/prod_1/", { auth: readonly }, 5300],
      ["malformed body before its fields", post, bad, 5100],
      ["fields before whether the record exists", "PATCH /products/prod_1/", { body: { x: 1 } }, 5102],
      ["fields before the version", `PATCH /products/${id}/`, { body: { x: 1 }, ...outdated }, 5102],
      [
        "the version before conflicts with other records",
        `PATCH /products/${id}/`,
        { body: { slug: "lamp" }, ...outdated },
        5303,
      ],
    ];
    for (const [name, request, options, code] of table) {
      expect([name, (await shop.call(request, options)).code]).toEqual([name, code]);
    }
  });

  test("if only an unreadable body can contain the namespace, the error is about the body", async () => {
    expect((await shop.call(post, { namespace: null, raw: "{bad" })).code).toBe(5100);
    expect((await shop.call(post, { namespace: null, raw: "[]" })).code).toBe(5100);
    expect((await shop.call(post, { namespace: null, ...xml })).code).toBe(5103);
  });
});

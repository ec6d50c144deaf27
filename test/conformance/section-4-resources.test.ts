import { beforeAll, describe, expect, test } from "bun:test";
import { createECDH, randomBytes } from "node:crypto";
import type { CallOptions } from "../support/client.ts";
import type { ProductReply } from "../support/factories.ts";
import { request } from "../support/raw-http.ts";
import { type ServedShop, useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();
const lamp = { title: "Lamp", price: 19.99 };

let shop: ServedShop;
beforeAll(async () => {
  shop = await startServedShop();
});

const create = async (fields: Record<string, unknown> = {}) =>
  (await shop.call<ProductReply>("POST /products/", { body: { ...lamp, ...fields } })).data;
const read = (id: string) => shop.call<ProductReply>(`GET /products/${id}/`);

describe("§4 Method semantics", () => {
  test("GET reads one product, and changes nothing (row 1; row 2 of product endpoints)", async () => {
    const product = await create();
    for (let n = 0; n < 2; n++) expect((await read(product.id)).data).toEqual(product);
  });

  test("row 2: each POST creates another record", async () => {
    const [one, two] = [await create(), await create()];
    expect(one.id).not.toBe(two.id);
  });

  test("PUT with a JSON body is a full update, which resets omitted fields (row 3; row 4 of product endpoints)", async () => {
    const { id } = await create({ description: "old", tags: ["old"] });
    const { data } = await shop.call<ProductReply>(`PUT /products/${id}/`, { body: { title: "New", price: 2 } });
    expect(data).toMatchObject({ id, title: "New", price: 2, description: null, tags: [] });
    expect((await read(id)).data).toEqual(data);
  });

  test("PATCH with a JSON body is a partial update, which keeps omitted fields (row 4; row 5 of product endpoints)", async () => {
    const before = await create({ description: "stays", tags: ["stays"] });
    const { data } = await shop.call<ProductReply>(`PATCH /products/${before.id}/`, { body: { price: 5 } });
    expect(data).toMatchObject({ title: "Lamp", description: "stays", tags: ["stays"], price: 5 });
  });

  test("DELETE deletes (row 5; row 6 of product endpoints)", async () => {
    const { id } = await create();
    expect((await shop.call(`DELETE /products/${id}/`)).status).toBe(200);
    expect((await read(id)).status).toBe(404);
  });

  test("no verb prefix appears in paths", async () => {
    const { document } = await shop.description();
    for (const path of Object.keys(document.paths)) {
      expect(path).not.toMatch(/\/(?:get|post|put|patch|create|add|update|edit|delete|remove|list)\b/i);
    }
  });

  test("the real HTTP method counts, not a header or parameter", async () => {
    const { id } = await create();
    const headers = { authorization: shop.auth, "x-http-method-override": "DELETE" };
    const path = `/products/${id}/?namespace=${shop.namespace}`;
    const { status } = await request(shop.server as never, { head: `GET ${path} HTTP/1.1`, headers });
    expect(status).toBe(200);
    await shop.call(`GET /products/${id}/`, { query: { _method: "DELETE" } });
    expect((await read(id)).status).toBe(200);
  });
});

describe("§4 Product endpoints", () => {
  const languages: Record<string, string>[] = [{}, { lang: "de" }];

  test("row 1: GET /products/ with namespace and optional lang returns a list of products", async () => {
    const { id } = await create();
    for (const query of languages) {
      const { status, data } = await shop.call<ProductReply[]>("GET /products/", { query });
      expect([status, data.map((product) => product.id)]).toEqual([200, expect.arrayContaining([id])]);
    }
    expect((await shop.callAnonymously("GET /products/", { namespace: null })).code).toBe(5101);
  });

  test("row 3: POST /products/ takes title and price as JSON, with namespace and optional lang in the query", async () => {
    for (const query of languages) {
      const { status, data } = await shop.call<ProductReply>("POST /products/", { body: lamp, query });
      expect(status).toBe(201);
      expect(data).toMatchObject({ ...lamp, ...query });
    }
  });

  test("rows 3 to 6: writing needs authentication", async () => {
    const { id } = await create();
    expect((await shop.callAnonymously("POST /products/", { body: lamp })).code).toBe(5206);
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const sent = method === "DELETE" ? {} : { body: lamp };
      expect((await shop.callAnonymously(`${method} /products/${id}/`, sent)).code).toBe(5206);
    }
  });
});

function subscription() {
  const browser = createECDH("prime256v1");
  const keys = { p256dh: browser.generateKeys("base64url"), auth: randomBytes(16).toString("base64url") };
  return { endpoint: `https://push.example.com/${randomBytes(8).toString("hex")}`, keys };
}

test("§4 Public endpoints (likes, views, bookmarks, notification register, forgot and reset password) need no credentials, but still namespace", async () => {
  const resource = { resource_type: "product", resource_id: (await create()).id };
  const email = "ada@example.com";
  const ofPublic = (path: string): [request: string, sent: CallOptions, code?: number][] => [
    [`GET ${path}`, { query: resource }],
    [`GET ${path}`, {}],
    [`POST ${path}`, { body: resource }],
    [`DELETE ${path}`, { query: resource }],
  ];
  const calls: ReturnType<typeof ofPublic> = [
    ...ofPublic("/likes/"),
    ...ofPublic("/bookmarks/"),
    ["GET /views/", { query: resource }],
    ["POST /views/", { body: resource }],
    ["POST /notifications/register/", { body: { platform: "web", subscription: subscription() } }],
    ["GET /notifications/register/", {}],
    ["POST /auth/password/forgot/", { body: { email } }],
    ["POST /auth/password/reset/", { body: { email, code: "000000", password: "Vermilion-Kettle-4871" } }, 5216],
  ];
  for (const [request, sent, code] of calls) {
    const call = (namespace: string | null) => shop.callAnonymously(request, { ...sent, namespace });
    expect([request, (await call(shop.namespace)).code]).toEqual([request, code]);
    expect([request, (await call(null)).code]).toEqual([request, 5101]);
    expect([request, (await call("no-such-store")).code]).toEqual([request, 5215]);
  }
});

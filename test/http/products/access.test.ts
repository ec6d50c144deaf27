import { expect, test } from "bun:test";
import { setOrigins } from "../../../src/server/modules/app-keys/origins.ts";
import { createClient } from "../../support/client.ts";
import { bearer, type Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const body = { title: "Torch", price: 2 };
/** Each endpoint, the scope that it requires, and a body that it accepts. */
const endpoints = [
  { request: "GET /products/", scope: "products:read", send: {}, done: 200 },
  { request: "GET /products/:id/", scope: "products:read", send: {}, done: 200 },
  { request: "POST /products/", scope: "products:write", send: { body }, done: 201 },
  { request: "PUT /products/:id/", scope: "products:write", send: { body }, done: 200 },
  { request: "PATCH /products/:id/", scope: "products:write", send: { body }, done: 200 },
  { request: "DELETE /products/:id/", scope: "products:write", send: {}, done: 200 },
] as const;
const otherScope = { "products:read": "products:write", "products:write": "products:read" } as const;

/** The products of the store, as its owner sees them. */
async function contents({ call }: Shop): Promise<string> {
  return JSON.stringify((await call("GET /products/")).data);
}

onDatabase("file", (suite) => {
  for (const { request, scope, send, done } of endpoints) {
    test(`${request} works with only ${scope}`, async () => {
      const shop = await suite.shop();
      const { id } = await shop.createProduct();
      const auth = bearer(await shop.issueKey({ scopes: [scope] }));
      expect((await shop.call(request.replace(":id", id), { ...send, auth })).status).toBe(done);
    });

    test(`${request} without credentials is 5206, and nothing changes`, async () => {
      const shop = await suite.shop();
      const { id } = await shop.createProduct();
      const before = await contents(shop);
      const { code, text } = await shop.callAnonymously(request.replace(":id", id), send);
      expect(code).toBe(5206);
      expect(text).not.toContain("Lamp");
      expect(await contents(shop)).toBe(before);
    });

    test(`${request} with a key that lacks ${scope} is 5300 naming the scope, and nothing changes`, async () => {
      const shop = await suite.shop();
      const { id } = await shop.createProduct();
      const before = await contents(shop);
      const auth = bearer(await shop.issueKey({ scopes: [otherScope[scope]] }));
      const { code, status, text } = await shop.call(request.replace(":id", id), { ...send, auth });
      expect([code, status]).toEqual([5300, 403]);
      expect(text).toContain(scope);
      expect(text).not.toContain("Lamp");
      expect(await contents(shop)).toBe(before);
    });

    test(`${request} with another store's key is 5203, and neither store changes`, async () => {
      const [shop, other] = [await suite.shop(), await suite.shop()];
      const { id } = await shop.createProduct();
      await other.createProduct();
      const before = [await contents(shop), await contents(other)];
      const call = createClient(suite.app, { namespace: shop.namespace, auth: other.auth });
      const { code, text } = await call(request.replace(":id", id), send);
      expect(code).toBe(5203);
      expect(text).not.toContain("Lamp");
      expect([await contents(shop), await contents(other)]).toEqual(before);
    });

    if (request.includes(":id")) {
      test(`${request} of another store's product is 5301, and nothing changes`, async () => {
        const [shop, other] = [await suite.shop(), await suite.shop()];
        const { id } = await shop.createProduct();
        const before = await contents(shop);
        for (const headers of [{}, { "if-match": '"1"' }] as Record<string, string>[]) {
          const { code, text } = await other.call(request.replace(":id", id), { ...send, headers });
          expect(code).toBe(5301);
          expect(text).not.toContain("Lamp");
        }
        expect(await contents(shop)).toBe(before);
      });
    }
  }

  test("a list never shows another store's products, with any sort or filter", async () => {
    const [shop, other] = [await suite.shop(), await suite.shop()];
    await shop.createProduct();
    for (const query of [
      {},
      { sort: "title" },
      { status: "published" },
      { "price[gte]": 0 },
      { limit: 1 },
    ] as never[]) {
      expect((await other.call("GET /products/", { query })).data).toEqual([] as never);
    }
  });

  test("the key of a page reads published products only, unless it may write products", async () => {
    const shop = await suite.shop();
    const draft = await shop.createProduct({ title: "Secret", slug: "secret", status: "draft", tags: ["x"] });
    const shown = await shop.createProduct({ title: "Shown" });
    const origin = "https://shop.example.com";
    const listed = async (auth: string, headers = {}) =>
      (await shop.call<{ id: string }[]>("GET /products/", { auth, headers })).data.map(({ id }) => id);
    const key = await shop.issueKey({ scopes: ["products:read"] });
    const auth = bearer(key);
    expect(await listed(auth)).toEqual([shown.id, draft.id]);
    expect(await listed(auth, { origin })).toEqual([shown.id]);
    await setOrigins(suite.app.system, { appId: key.app_id, origins: [origin], allowNoOrigin: true });
    const some: Record<string, string>[] = [{ origin }, {}];
    for (const headers of some) {
      expect(await listed(auth, headers)).toEqual([shown.id]);
      const ask = (request: string, query = {}) => shop.call(request, { auth, headers, query });
      expect((await ask("GET /products/", { status: "draft" })).code).toBe(5300);
      expect((await ask("GET /products/", { q: "secret" })).text).toContain('"data":[]');
      for (const name of [draft.id, "secret"]) {
        expect((await ask(`GET /products/${name}/`)).code).toBe(5301);
        expect((await ask(`GET /products/${name}/variants/`)).code).toBe(5301);
      }
    }
    const writer = await shop.issueKey({ scopes: ["products:*"] });
    await setOrigins(suite.app.system, { appId: writer.app_id, origins: [origin] });
    expect(await listed(bearer(writer), { origin })).toEqual([shown.id, draft.id]);
  });
});

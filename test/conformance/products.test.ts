import { beforeAll, expect, test } from "bun:test";
import { routes } from "../../src/server/api/routes.ts";
import type { ProductReply, Shop } from "../support/factories.ts";
import { onEachDatabase } from "../support/suite.ts";

onEachDatabase((suite) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
  });
  const read = async (id: string) => (await shop.call<ProductReply>(`GET /products/${id}/`)).data;

  test("§4 GET reads, and changes nothing", async () => {
    const before = await shop.createProduct();
    for (let n = 0; n < 3; n++) expect(await read(before.id)).toEqual(before);
  });

  test("§4 POST creates: each call creates another record", async () => {
    const body = { title: "Lamp", price: 1 };
    const [one, two] = [
      await shop.call<ProductReply>("POST /products/", { body }),
      await shop.call<ProductReply>("POST /products/", { body }),
    ];
    expect(one.data.id).not.toBe(two.data.id);
  });

  test("§4 PUT is a full update: repeating it leaves the same record", async () => {
    const { id } = await shop.createProduct({ description: "old", tags: ["old"] });
    const body = { title: "New", price: 2 };
    const contents: unknown[] = [];
    for (let n = 0; n < 2; n++) {
      const { data } = await shop.call<ProductReply>(`PUT /products/${id}/`, { body });
      contents.push({ ...data, version: 0 });
      expect(data).toMatchObject({ ...body, description: null, tags: [] });
    }
    expect(contents[0]).toEqual(contents[1]);
  });

  test("§4 PATCH is a partial update", async () => {
    const before = await shop.createProduct({ description: "stays", tags: ["stays"] });
    const { data } = await shop.call<ProductReply>(`PATCH /products/${before.id}/`, { body: { price: 5 } });
    expect(data).toMatchObject({ title: before.title, description: "stays", tags: ["stays"], price: 5 });
  });

  test("§4 DELETE deletes", async () => {
    const { id } = await shop.createProduct();
    expect((await shop.call(`DELETE /products/${id}/`)).status).toBe(200);
    expect((await shop.call(`GET /products/${id}/`)).status).toBe(404);
  });

  test("§4 no verb prefix appears in paths", () => {
    for (const { path } of routes)
      expect(path).not.toMatch(/\/(?:get|post|create|add|update|edit|delete|remove|list)\b/i);
  });

  test("§4 GET /products/ returns a list of products, with namespace and optional lang", async () => {
    const { id } = await shop.createProduct();
    for (const query of [{}, { lang: "de" }] as Record<string, string>[]) {
      const { status, data } = await shop.call<ProductReply[]>("GET /products/", { query });
      expect([status, data.some((product) => product.id === id)]).toEqual([200, true]);
    }
  });

  test("§4 GET /products/{id}/ returns one product", async () => {
    const product = await shop.createProduct({ title: "The one" });
    expect(await read(product.id)).toMatchObject({ id: product.id, title: "The one" });
  });

  test("§4 POST /products/ takes title and price as JSON, with namespace and optional lang in the query", async () => {
    const body = { title: "Lamp", price: 19.99 };
    for (const query of [{}, { lang: "de" }] as Record<string, string>[]) {
      const { status, data } = await shop.call<ProductReply>("POST /products/", { body, query });
      expect(status).toBe(201);
      expect(data).toMatchObject(body);
    }
  });

  test("§4 POST /products/ needs authentication", async () => {
    const body = { title: "Lamp", price: 1 };
    const { code, status } = await shop.callAnonymously("POST /products/", { body });
    expect([code, status]).toEqual([5206, 401]);
  });

  test("§4 PUT, PATCH and DELETE of /products/{id}/ take JSON bodies and need authentication", async () => {
    const { id } = await shop.createProduct();
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const sent = method === "DELETE" ? {} : { body: { title: "Lamp", price: 1 } };
      expect((await shop.callAnonymously(`${method} /products/${id}/`, sent)).code).toBe(5206);
      expect((await shop.call(`${method} /products/${id}/`, sent)).status).toBe(200);
    }
  });

  test("§4 paths are answered with their trailing slash and without, never by a redirect", async () => {
    const { id } = await shop.createProduct();
    for (const path of ["/products/", "/products", `/products/${id}/`, `/products/${id}`]) {
      expect([path, (await shop.call(`GET ${path}`)).status]).toEqual([path, 200]);
    }
  });
});

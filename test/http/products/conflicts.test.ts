import { expect } from "bun:test";
import type { ProductReply } from "../../support/factories.ts";
import { onEachDatabase } from "../../support/suite.ts";

const lamp = { title: "Lamp", price: 1 };

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  for (const [field, value] of [
    ["slug", "taken"],
    ["sku", "L-1"],
  ] as const) {
    onFile(`the ${field} of a product can be used by another product only after its deletion`, async (shop) => {
      const { call, createProduct } = shop;
      const { id } = await createProduct({ [field]: value });
      expect((await call(`PUT /products/${id}/`, { body: { ...lamp, [field]: value } })).status).toBe(200);
      expect((await call(`PATCH /products/${id}/`, { body: { [field]: value } })).status).toBe(200);
      const other = await createProduct();
      for (const request of ["POST /products/", `PUT /products/${other.id}/`, `PATCH /products/${other.id}/`]) {
        const { code, fields } = await call(request, { body: { ...lamp, [field]: value } });
        expect({ request, code, fields }).toEqual({ request, code: 5302, fields: [field] });
      }
      await call(`DELETE /products/${id}/`);
      expect(await createProduct({ [field]: value })).toMatchObject({ [field]: value });
    });
  }

  test("of twenty creates with the same slug, one succeeds and the others get 409", async ({ call }) => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        call("POST /products/", { body: { title: `Lamp ${n}`, price: 1, slug: "taken" } }),
      ),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ code }) => code === 5302)).toHaveLength(19);
    expect((await call<unknown[]>("GET /products/")).data).toHaveLength(1);
  });

  test("twenty creates with the same title all succeed, each with another slug", async ({ call }) => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => call<ProductReply>("POST /products/", { body: lamp })),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(201));
    const slugs = replies.map(({ data }) => data.slug);
    expect(new Set(slugs).size).toBe(20);
    for (const slug of slugs) expect(slug).toMatch(/^lamp(-[0-9a-z]+)?$/);
  });

  onFile("products without a SKU do not conflict, and a title without letters also results in a slug", async (shop) => {
    expect(await shop.createProduct({ title: "!!!" })).toMatchObject({ sku: null, slug: "product" });
    expect((await shop.createProduct({ title: "???", sku: null })).slug).toMatch(/^product-[0-9a-z]+$/);
  });

  test("of twenty PATCHes with the same version, one succeeds and the others get 412", async () => {
    const { call, createProduct } = await suite.shop();
    const { id } = await createProduct();
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, stock) =>
        call<ProductReply>(`PATCH /products/${id}/`, { body: { stock }, headers: { "if-match": '"1"' } }),
      ),
    );
    const won = replies.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(replies.filter(({ code }) => code === 5303)).toHaveLength(19);
    expect((await call<ProductReply>(`GET /products/${id}/`)).data).toEqual(won[0]?.data as ProductReply);
  });

  test("twenty concurrent PATCHes without a version all succeed", async ({ call, createProduct }) => {
    const { id } = await createProduct();
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        call<ProductReply>(`PATCH /products/${id}/`, { body: { metadata: { [`k${n}`]: n } } }),
      ),
    );
    expect(replies.map(({ data }) => data.version).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 2),
    );
    const { data } = await call<ProductReply>(`GET /products/${id}/`);
    expect(Object.keys(data.metadata)).toHaveLength(20);
  });
});

import { expect } from "bun:test";
import type { ProductReply } from "../../support/factories.ts";
import { onEachDatabase } from "../../support/suite.ts";

const body = { title: "Torch", price: 2 };
const methods = ["PUT", "PATCH", "DELETE"];

onEachDatabase((suite) => {
  const { test } = suite;
  for (const method of methods) {
    test(`${method} with an outdated version is 412, and nothing is written`, async ({ call, createProduct }) => {
      const { id } = await createProduct();
      await call(`PATCH /products/${id}/`, { body: { stock: 3 } });
      const sent = method === "DELETE" ? {} : { body };
      for (const tag of ['"1"', '"3"', '"0"', '"x"', 'W/"1"', '""', '"02"', '"99999999999999999999"']) {
        const { code, status } = await call(`${method} /products/${id}/`, { ...sent, headers: { "if-match": tag } });
        expect({ tag, code, status }).toEqual({ tag, code: 5303, status: 412 });
      }
      expect((await call<ProductReply>(`GET /products/${id}/`)).data).toMatchObject({ version: 2, title: "Lamp" });
    });

    suite.testOnFile(`${method} succeeds with the current version, with * and without a version`, async () => {
      const { call, createProduct } = await suite.shop();
      for (const headers of [
        { "if-match": '"1"' },
        { "if-match": 'W/"1"' },
        { "if-match": "*" },
        { "if-match": null },
      ]) {
        const { id } = await createProduct();
        const sent = method === "DELETE" ? {} : { body };
        expect((await call(`${method} /products/${id}/`, { ...sent, headers })).status).toBe(200);
      }
    });

    suite.testOnFile(`${method} with an invalid If-Match is 5100`, async ({ call, createProduct }) => {
      const { id } = await createProduct();
      const sent = method === "DELETE" ? {} : { body };
      for (const tag of ["1", '"1', "1, 2", "W/1"]) {
        const { code } = await call(`${method} /products/${id}/`, { ...sent, headers: { "if-match": tag } });
        expect({ tag, code }).toEqual({ tag, code: 5100 });
      }
    });
  }

  test("of twenty PATCHes with the same version one succeeds, and the others are 412", async () => {
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

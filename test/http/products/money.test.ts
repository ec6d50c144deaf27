import { expect, test } from "bun:test";
import type { ProductReply, VariantReply } from "../../support/factories.ts";
import { onEachDatabase } from "../../support/suite.ts";

const currencies = ["EUR", "JPY", "KWD"] as const;
type Currency = (typeof currencies)[number];

/** Numbers as a body contains them, with their minor units. */
const exact: Record<Currency, [written: string, minor: number][]> = {
  EUR: [
    ["0", 0],
    ["-0", 0],
    ["0.01", 1],
    ["0.07", 7],
    ["1.1", 110],
    ["19.99", 1999],
    ["19.9", 1990],
    ["1.10", 110],
    ["1e2", 10_000],
    ["199e-1", 1990],
    ["9999999999999.99", 999_999_999_999_999],
  ],
  JPY: [
    ["0", 0],
    ["1500", 1500],
    ["1500.0", 1500],
    ["9007199254740991", 9_007_199_254_740_991],
  ],
  KWD: [
    ["0.001", 1],
    ["19.999", 19_999],
    ["1.5", 1500],
    ["999999999999.999", 999_999_999_999_999],
  ],
};

/** Texts that are no amount in any currency. */
const never = `-1 -0.01 "19.99" 1e400 -1e400 9007199254740993 1e21 1e-7 null true [1] {}`.split(/\s+/);
const refused: Record<Currency, string[]> = {
  EUR: [...never, "19.999", "0.001", "0.005", "10000000000000"],
  JPY: [...never, "0.5", "1500.01", "9007199254740992"],
  KWD: [...never, "0.0001", "1.2345", "1000000000000"],
};
/** Amounts that a double would round to a valid price. They must be refused. */
const inexact: Record<Currency, string[]> = {
  EUR: ["90071992547409.93", "80000000000000.01", "90071992547409.915", "19.990000000000000001"],
  JPY: ["9007199254740990.9", "1500.00000000000001", "1499.9999999999999999"],
  KWD: ["9000000000000.001", "1.2340000000000000001"],
};

onEachDatabase((suite) => {
  const { onFile } = suite;
  for (const currency of currencies) {
    test(`an amount in ${currency} is stored exactly`, async () => {
      const { call } = await suite.shop({ tenant: { currency } });
      for (const [written, minor] of exact[currency]) {
        const created = await call<ProductReply>("POST /products/", { raw: `{"title":"A","price":${written}}` });
        expect({ written, status: created.status }).toEqual({ written, status: 201 });
        const { data } = await call<ProductReply>(`GET /products/${created.data.id}/`);
        expect(data).toMatchObject({ price: Math.abs(Number(written)), price_minor: minor, currency });
      }
    });

    onFile(
      `an invalid amount in ${currency}, or one that a double would round, is 422 and names the price`,
      async () => {
        const { call, createProduct } = await suite.shop({ tenant: { currency } });
        const { id } = await createProduct({ price: 7 });
        for (const written of [...refused[currency], ...inexact[currency]]) {
          for (const request of ["POST /products/", `PUT /products/${id}/`, `PATCH /products/${id}/`]) {
            const { code, fields } = await call(request, { raw: `{"title":"A","price":${written}}` });
            expect({ request, written, code, fields }).toEqual({ request, written, code: 5102, fields: ["price"] });
          }
        }
        expect((await call<ProductReply>(`GET /products/${id}/`)).data).toMatchObject({ price: 7, version: 1 });
      },
    );

    onFile(`an invalid compare-at or variant price in ${currency} is 422 and named`, async () => {
      const { call, createProduct } = await suite.shop({ tenant: { currency } });
      const { id } = await createProduct({ price: 7, compare_at_price: 9 });
      const { data } = await call<VariantReply>(`POST /products/${id}/variants/`, { raw: `{"title":"A"}` });
      const variant = `/products/${id}/variants/${data.id}/`;
      for (const written of [...refused[currency], ...inexact[currency]]) {
        const before = `"title":"A","price":1,"compare_at_price":${written}`;
        const product = `"title":"A","price":1`;
        const good = `{"title":"B"}`;
        const cases: [request: string, raw: string, field: string][] = [];
        // Null is valid here, and means no compare-at price, or the product's price.
        if (written !== "null") {
          const variants = `[${good},{"title":"C","price":${written}}]`;
          cases.push(["POST /products/", `{${product},"variants":${variants}}`, "variants.1.price"]);
          cases.push([`POST /products/${id}/variants/`, `{"title":"A","price":${written}}`, "price"]);
          cases.push([`PATCH ${variant}`, `{"price":${written}}`, "price"]);
          cases.push(["POST /products/", `{${before}}`, "compare_at_price"]);
          cases.push([`PUT /products/${id}/`, `{${before}}`, "compare_at_price"]);
          cases.push([`PATCH /products/${id}/`, `{"compare_at_price":${written}}`, "compare_at_price"]);
          cases.push([`PATCH ${variant}`, `{"compare_at_price":${written}}`, "compare_at_price"]);
          cases.push([
            "POST /products/",
            `{${product},"variants":[{"title":"C","compare_at_price":${written}}]}`,
            "variants.0.compare_at_price",
          ]);
        }
        for (const [request, raw, field] of cases) {
          const { code, fields } = await call(request, { raw });
          expect({ request, raw, code, fields }).toEqual({ request, raw, code: 5102, fields: [field] });
        }
      }
    });

    onFile(`compare-at and variant prices in ${currency} are stored exactly`, async () => {
      const { call } = await suite.shop({ tenant: { currency } });
      for (const [written, minor] of exact[currency]) {
        const raw = `{"title":"A","price":0,"compare_at_price":${written},"variants":[{"title":"B","price":${written},"compare_at_price":${written}}]}`;
        const { data } = await call<ProductReply>("POST /products/", { raw });
        const amount = Math.abs(Number(written));
        const [variant] = data.variants;
        expect([data.compare_at_price, variant?.price, variant?.price_minor, variant?.compare_at_price]).toEqual([
          amount,
          amount,
          minor,
          amount,
        ]);
      }
    });
  }

  onFile("a price is in the currency of the store at the time of the write", async () => {
    const { updateTenant } = await import("../../../src/server/modules/tenants/service.ts");
    const { call, createProduct, namespace } = await suite.shop();
    const { id } = await createProduct({ price: 19.99 });
    expect((await call<ProductReply>(`GET /products/${id}/`)).data).toMatchObject({
      price_minor: 1999,
      currency: "EUR",
    });
    await call(`DELETE /products/${id}/`);
    await updateTenant(suite.app.system, namespace, { currency: "JPY" });
    expect(await createProduct({ price: 2500 })).toMatchObject({ price: 2500, price_minor: 2500, currency: "JPY" });
    expect((await call("POST /products/", { body: { title: "A", price: 19.99 } })).code).toBe(5102);
  });
});

import { expect, test } from "bun:test";
import type { ProductReply, VariantReply } from "../../support/factories.ts";
import { onEachDatabase } from "../../support/suite.ts";

/** A number as it is written in a body, and the minor units it is. */
const exact: Record<string, [written: string, minor: number][]> = {
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
    ["4503599627370.49", 450_359_962_737_049],
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
    ["4503599627370.125", 4_503_599_627_370_125],
  ],
};

/** What no currency takes. */
const never = [
  "-1",
  "-0.01",
  '"19.99"',
  "1e400",
  "-1e400",
  "9007199254740993",
  "1e21",
  "1e-7",
  "null",
  "true",
  "[1]",
  "{}",
];
const refused: Record<string, string[]> = {
  EUR: [...never, "19.999", "0.001", "0.005", "90071992547409.92"],
  JPY: [...never, "0.5", "1500.01", "9007199254740992"],
  KWD: [...never, "0.0001", "1.2345", "9007199254740.992"],
};
/** Two amounts a cent apart that are the same number to every reader of JSON must not both become a price. */
const ambiguous: Record<string, string[]> = {
  EUR: ["90071992547409.93", "80000000000000.01", "90071992547409.915"],
  JPY: [],
  KWD: ["9000000000000.001"],
};

onEachDatabase((suite) => {
  for (const currency of ["EUR", "JPY", "KWD"]) {
    test(`an amount in ${currency} is kept to its last digit`, async () => {
      const { call } = await suite.shop({ tenant: { currency } });
      for (const [written, minor] of exact[currency] ?? []) {
        const created = await call<ProductReply>("POST /products/", { raw: `{"title":"A","price":${written}}` });
        expect({ written, status: created.status }).toEqual({ written, status: 201 });
        const { data } = await call<ProductReply>(`GET /products/${created.data.id}/`);
        expect(data).toMatchObject({ price: Math.abs(Number(written)), price_minor: minor, currency });
      }
    });

    test(`an amount that is none in ${currency} is 422 and names the price`, async () => {
      const { call, createProduct } = await suite.shop({ tenant: { currency } });
      const { id } = await createProduct({ price: 7 });
      for (const written of refused[currency] ?? []) {
        for (const request of ["POST /products/", `PUT /products/${id}/`, `PATCH /products/${id}/`]) {
          const { code, fields } = await call(request, { raw: `{"title":"A","price":${written}}` });
          expect({ request, written, code, fields }).toEqual({ request, written, code: 5102, fields: ["price"] });
        }
      }
      expect((await call<ProductReply>(`GET /products/${id}/`)).data).toMatchObject({ price: 7, version: 1 });
    });

    test(`what is no amount in ${currency} is 422 also as a price before and as that of a variant, and named`, async () => {
      const { call, createProduct } = await suite.shop({ tenant: { currency } });
      const { id } = await createProduct({ price: 7, compare_at_price: 9 });
      const { data } = await call<VariantReply>(`POST /products/${id}/variants/`, { raw: `{"title":"A"}` });
      const variant = `/products/${id}/variants/${data.id}/`;
      for (const written of [...(refused[currency] ?? []), ...(ambiguous[currency] ?? [])]) {
        const before = `"title":"A","price":1,"compare_at_price":${written}`;
        const product = `"title":"A","price":1`;
        const good = `{"title":"B"}`;
        const cases: [request: string, raw: string, field: string][] = [];
        // Null is what has no price before, and a variant with the product's price.
        if (written !== "null") {
          const variants = `[${good},{"title":"C","price":${written}}]`;
          cases.push(["POST /products/", `{${product},"variants":${variants}}`, "variants.1.price"]);
          cases.push([`POST /products/${id}/variants/`, `{"title":"A","price":${written}}`, "price"]);
          cases.push([`PATCH ${variant}`, `{"price":${written}}`, "price"]);
          cases.push([`PUT ${variant}`, `{"title":"A","price":${written}}`, "price"]);
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

    test(`an amount in ${currency} is kept to its last digit as a price before and as that of a variant`, async () => {
      const { call } = await suite.shop({ tenant: { currency } });
      for (const [written, minor] of exact[currency] ?? []) {
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

    test(`an amount in ${currency} that a JSON number cannot hold is refused and never rounded`, async () => {
      const { call } = await suite.shop({ tenant: { currency } });
      for (const written of ambiguous[currency] ?? []) {
        const { code, fields, text } = await call("POST /products/", { raw: `{"title":"A","price":${written}}` });
        expect({ written, code, fields, text }).toMatchObject({ written, code: 5102, fields: ["price"] });
      }
    });
  }

  test("a price is in the currency that the store has when it is given", async () => {
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

import { expect, test } from "bun:test";
import { updateTenant } from "../../../src/server/modules/tenants/service.ts";
import type { ProductReply } from "../../support/factories.ts";
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

/** Texts that are not an amount in any currency. */
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
    test(`prices in ${currency} are stored exactly`, async () => {
      const { call } = await suite.shop({ tenant: { currency } });
      for (const [written, minor] of exact[currency]) {
        const prices = `"price":${written},"compare_at_price":${written}`;
        const raw = `{"title":"A",${prices},"variants":[{"title":"B",${prices}}]}`;
        const created = await call<ProductReply>("POST /products/", { raw });
        expect({ written, status: created.status }).toEqual({ written, status: 201 });
        const { data } = await call<ProductReply>(`GET /products/${created.data.id}/`);
        const price = Math.abs(Number(written));
        const shown = { price, price_minor: minor, compare_at_price: price, currency };
        expect(data).toMatchObject({ ...shown, variants: [shown] });
      }
    });

    onFile(`an invalid amount in ${currency}, or one that a double would round, gets 422`, async () => {
      const { call, createProduct } = await suite.shop({ tenant: { currency } });
      const { id, variants } = await createProduct({ price: 7, compare_at_price: 9, variants: [{ title: "A" }] });
      const [product, variant] = [`/products/${id}/`, `/products/${id}/variants/${variants[0]?.id}/`];
      for (const written of [...refused[currency], ...inexact[currency]]) {
        const [price, before] = [`"price":${written}`, `"compare_at_price":${written}`];
        const cases: [request: string, raw: string, field: string][] = [
          ["POST /products/", `{"title":"A",${price}}`, "price"],
          [`PATCH ${product}`, `{${price}}`, "price"],
        ];
        // Null is valid here: it means no compare-at price, or the product's price.
        if (written !== "null") {
          cases.push([
            "POST /products/",
            `{"title":"A","price":1,"variants":[{"title":"C",${price}}]}`,
            "variants.0.price",
          ]);
          cases.push([`PATCH ${variant}`, `{${price}}`, "price"]);
          cases.push([`PUT ${product}`, `{"title":"A","price":1,${before}}`, "compare_at_price"]);
          cases.push([`PATCH ${variant}`, `{"price":1,${before}}`, "compare_at_price"]);
        }
        for (const [request, raw, field] of cases) {
          const { code, fields } = await call(request, { raw });
          expect({ request, raw, code, fields }).toEqual({ request, raw, code: 5102, fields: [field] });
        }
      }
      expect((await call<ProductReply>(`GET ${product}`)).data).toMatchObject({ price: 7, version: 1 });
    });
  }

  onFile("a price is in the currency that the store has when the price is written", async () => {
    const { call, createProduct, namespace } = await suite.shop();
    const { id } = await createProduct({ price: 19.99 });
    const { data } = await call<ProductReply>(`GET /products/${id}/`);
    expect(data).toMatchObject({ price_minor: 1999, currency: "EUR" });
    await call(`DELETE /products/${id}/`);
    await updateTenant(suite.app.system, namespace, { currency: "JPY" });
    expect(await createProduct({ price: 2500 })).toMatchObject({ price: 2500, price_minor: 2500, currency: "JPY" });
    expect((await call("POST /products/", { body: { title: "A", price: 19.99 } })).code).toBe(5102);
  });
});

import { expect, test } from "bun:test";
import { listOrderViews, readOrderPages } from "../../../src/server/modules/orders/views.ts";
import { openAccount } from "../../support/account.ts";
import { tenantContext } from "../../support/factories.ts";
import { makeOrder } from "../../support/orders.ts";
import { onDatabase } from "../../support/suite.ts";

onDatabase("file", (suite) => {
  test("order views have customer and decimals, page by page, without other stores' orders", async () => {
    const shop = await suite.shop({ tenant: { currency: "KWD" } });
    const other = await suite.shop();
    for (const one of [shop, other]) {
      const { id: product_id } = await one.createProduct({ price: 1 });
      const { id: customer_id } = await openAccount(one);
      await makeOrder(one, [{ product_id }], { customer_id });
      await makeOrder(one, [{ product_id }]);
    }
    const ctx = await tenantContext(shop);
    const views = await listOrderViews(ctx, {}, 2);
    expect(views.map(({ order, customerEmail, digits }) => [order.number, typeof customerEmail, digits])).toEqual([
      [2, "object", 3],
      [1, "string", 3],
    ]);
    expect(await listOrderViews(ctx, {}, 1)).toHaveLength(1);
    const pages: unknown[] = [];
    for await (const page of readOrderPages(ctx, { sort: "created_at" }))
      pages.push(page.map(({ order }) => order.number));
    expect(pages).toEqual([[1, 2]]);
  });
});

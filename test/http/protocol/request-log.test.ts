import { beforeAll, expect, test } from "bun:test";
import { newAddress } from "../../support/client.ts";
import type { Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

onDatabase("file", (suite) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
  });

  test("each request is logged once, with caller and result", async () => {
    const address = newAddress();
    const from = suite.app.entries.length;
    const { id } = await shop.createProduct();
    await shop.call(`GET /products/${id}/`, { address, query: { lang: "de" } });
    await shop.call("GET /products/prod_1/", { address });
    await shop.callAnonymously("GET /products/", { address });
    await shop.call("GET /nothing/", { address });
    // IP addresses are personal data, so the log has them only for failures.
    const common = { at: suite.app.clock.now(), method: "GET" };
    const failed = { ...common, ip: address };
    const known = { namespace: shop.namespace, caller: shop.key.app_id };
    expect(suite.app.entries.slice(from + 1)).toMatchObject([
      { ...common, ...known, path: `/products/${id}/`, status: 200 },
      { ...failed, ...known, path: "/products/prod_1/", status: 404, code: 5301 },
      { ...failed, namespace: shop.namespace, path: "/products/", status: 401, code: 5206 },
      { ...failed, path: "/nothing/", status: 404, code: 5106 },
    ]);
    expect(suite.app.entries[from]?.ip).toBeUndefined();
  });

  test("no value of a query, a header or a body occurs in the log or in an error", async () => {
    const marks = ["mark-in-query", "mark-in-header", "mark-in-body", "mark-in-secret", "mark-in-token"];
    const from = suite.app.lines.length;
    const replies = [
      await shop.call("POST /products/", {
        query: { odd: "mark-in-query" },
        headers: { "x-odd": "mark-in-header" },
        body: { title: "Lamp", price: 1, odd: "mark-in-body" },
      }),
      await shop.call("GET /products/", { auth: "Bearer app_1:mark-in-secret" }),
      await shop.call("GET /products/", {
        auth: null,
        query: { app_id: "app_1", app_secret: "mark-in-secret" },
      }),
      await shop.call("GET /products/", {
        auth: null,
        query: { user_id: "usr_1", token: "mark-in-token" },
      }),
      await shop.call("POST /products/", { body: { title: "mark-in-body", password: "mark-in-body", price: "x" } }),
    ];
    const told = [...suite.app.lines.slice(from), ...replies.map(({ text }) => text)].join("\n");
    for (const mark of marks) expect(told).not.toContain(mark);
  });
});

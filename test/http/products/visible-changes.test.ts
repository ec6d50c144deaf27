import { expect, test } from "bun:test";
import { inTransaction } from "../../../src/server/db/transaction.ts";
import { changeStock } from "../../../src/server/modules/catalogue/products/stock.ts";
import { expireDueOrders } from "../../../src/server/modules/orders/expiry.ts";
import { openAccount } from "../../support/account.ts";
import type { Call } from "../../support/client.ts";
import { bearer, type ProductReply, type Shop, tenantContext } from "../../support/factories.ts";
import { actOn, makeOrder, unlimitedOrders } from "../../support/orders.ts";
import { onDatabase } from "../../support/suite.ts";

onDatabase("file", (suite) => {
  const kinds: [name: string, fields: (stock: number) => object][] = [
    ["a product", (stock) => ({ stock })],
    ["a product with variants", (stock) => ({ variants: ["S", "M"].map((size) => ({ options: { size }, stock })) })],
  ];

  async function open(fields: object) {
    const shop = await suite.shop({ tenant: unlimitedOrders });
    const product = await shop.createProduct({ title: "Lamp", ...fields });
    suite.app.clock.advance(1);
    const [variant] = product.variants;
    const item = variant ? { variant_id: variant.id } : { product_id: product.id };
    const storefront = await shop.issueKey({ scopes: ["catalog:read"] });
    const customer = await openAccount(shop);
    const auths = [bearer(storefront), `Bearer ${customer.id}:${customer.token}`];
    const callers = auths.map(
      (auth): Call =>
        (request, options) =>
          shop.callAnonymously(request, { ...options, auth }),
    );
    return { shop, product, item, callers };
  }

  /** Reads all that a caller can see of a product, in lists and alone, with ETags. */
  async function look(call: Call, { id, variants: [variant] }: ProductReply) {
    const reads = ["", "?q=lamp", "?sort=-updated_at", "?available=true&facets=tags,price", `${id}/`];
    if (variant) reads.push(`${id}/variants/`, `${id}/variants/${variant.id}/`);
    const replies = [];
    for (const path of reads) {
      const [at = "", search = ""] = path.split("?");
      const query = Object.fromEntries(new URLSearchParams(search));
      const { status, data, text, headers } = await call(`GET /products/${at}`, { query });
      expect(status).toBe(200);
      replies.push({ path, tag: headers.get("etag"), data, page: (JSON.parse(text) as { page?: object }).page });
    }
    return replies;
  }

  async function sell(shop: Shop, item: object, act: string) {
    const order = await makeOrder(shop, [{ ...item, quantity: 2 }]);
    suite.app.clock.advance(1);
    if (act === "expire") {
      await suite.app.db.execute("update orders set expires_at = '2000' where status = 'pending'");
      while ((await expireDueOrders(suite.app.system)) > 0);
    }
    if (act === "cancel" || act === "pay") await actOn(shop, order, act);
    if (act === "refund") {
      await actOn(shop, order, "pay");
      await actOn(shop, order, "refund", { body: { restock: true } });
    }
    suite.app.clock.advance(1);
  }

  for (const [name, fields] of kinds) {
    test(`orders that do not change the shown stock of ${name} change no field that visitors see`, async () => {
      const { shop, product, item, callers } = await open(fields(1000));
      const before = await Promise.all(callers.map((call) => look(call, product)));
      const exact = (await shop.call<ProductReply>(`GET /products/${product.id}/`)).data;
      const acts = ["pay", "cancel", "refund", "expire", "none"];
      for (const act of [...acts, ...acts]) await sell(shop, item, act);
      expect(await Promise.all(callers.map((call) => look(call, product)))).toEqual(before);
      // Callers who see the exact stock see each sale.
      const { version, stock } = (await shop.call<ProductReply>(`GET /products/${product.id}/`)).data;
      expect([version - exact.version, (stock ?? 0) - (exact.stock ?? 0)]).toEqual([2 + 2 * 2, -4]);
      const change = { headers: { "if-match": `"${exact.version}"` }, body: { title: "Lamp 2" } };
      expect((await shop.call(`PATCH /products/${product.id}/`, change)).code).toBe(5303);
    });

    test(`after an edit of only the stock of ${name}, visitors see the new stock up to the limit`, async () => {
      const { shop, product, item, callers } = await open(fields(1000));
      const path = `PATCH /products/${product.id}/${"variant_id" in item ? `variants/${item.variant_id}/` : ""}`;
      const stockItem = { productId: product.id, variantId: "variant_id" in item ? (item.variant_id ?? null) : null };
      const before = await Promise.all(callers.map((call) => look(call, product)));
      const count = async (stock: number) => {
        await shop.call(path, { body: { stock } });
        suite.app.clock.advance(1);
      };
      await count(987);
      const ctx = await tenantContext(shop);
      await inTransaction(ctx, (tx) => changeStock(tx, stockItem, { isRelative: true, amount: -7 }));
      suite.app.clock.advance(1);
      expect(await Promise.all(callers.map((call) => look(call, product)))).toEqual(before);
      await count(9);
      for (const [at, call] of callers.entries()) {
        const after = await look(call, product);
        expect(after.filter(({ tag }, n) => tag !== null && tag === before[at]?.[n]?.tag)).toEqual([]);
      }
    });

    test(`a change of the shown stock of ${name} changes version, time and ETags for visitors`, async () => {
      const { shop, product, item, callers } = await open(fields(11));
      const buy = () => makeOrder(shop, [{ ...item, quantity: 2 }]);
      let order = await buy();
      let seen = await Promise.all(callers.map((call) => look(call, product)));
      const steps: [name: string, isSeen: boolean, act: () => Promise<unknown>][] = [
        ["a payment, with 9 left as before", false, () => actOn(shop, order, "pay")],
        ["a refund, with 11 left", true, () => actOn(shop, order, "refund", { body: { restock: true } })],
        ["an order that leaves 9", true, async () => (order = await buy())],
        ["a cancellation", true, () => actOn(shop, order, "cancel")],
      ];
      for (const [step, isSeen, act] of steps) {
        suite.app.clock.advance(1);
        await act();
        const now = await Promise.all(callers.map((call) => look(call, product)));
        for (const [at, replies] of now.entries()) {
          for (const [n, { path, tag, data }] of replies.entries()) {
            const was = seen[at]?.[n];
            const [after, before] = [data, was?.data].map((value) => [value as unknown].flat()[0] as ProductReply);
            const rose = [Number(after?.version) - Number(before?.version) > 0];
            rose.push(String(after?.updated_at) > String(before?.updated_at), tag !== was?.tag || tag === null);
            expect({ step, path, rose }).toEqual({ step, path, rose: [isSeen, isSeen, isSeen || tag === null] });
          }
        }
        seen = now;
      }
    });
  }
});

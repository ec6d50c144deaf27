import { expect, test } from "bun:test";
import type { ProductReply, Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

/** Creates a record for each unique name of a store, and returns the replies. */
async function takeNames({ call }: Shop): Promise<unknown[]> {
  const lamp = { title: "Lamp", price: 2 };
  const named = await call<ProductReply>("POST /products/", { body: { ...lamp, slug: "the-lamp", sku: "LAMP-1" } });
  const made = await call<ProductReply>("POST /products/", { body: lamp });
  const variants = [{ options: { color: "red" }, sku: "LAMP-RED", price: 2 }];
  const varied = await call<ProductReply>("POST /products/", { body: { ...lamp, title: "Torch", variants } });
  const body = { options: { color: "blue" }, sku: "LAMP-BLUE", price: 2 };
  const added = await call(`POST /products/${varied.data?.id}/variants/`, { body });
  const user = await call("POST /users/", { body: { email: "taken@example.com" } });
  const items = [{ product_id: made.data?.id, quantity: 1 }];
  const order = await call<{ id: string; number: number }>("POST /orders/", { body: { items } });
  const paid = await call(`POST /orders/${order.data?.id}/pay/`, { body: { payment_reference: "pay-1" } });
  const statuses = [named, made, varied, added, user, order, paid].map(({ status }) => status);
  return [...statuses, made.data?.slug, order.data?.number];
}

onDatabase("file", (suite) => {
  test("unique values of one store are free in another: slugs, SKUs, addresses, order numbers, payments", async () => {
    const first = await takeNames(await suite.shop());
    expect(first).toEqual([201, 201, 201, 201, 201, 201, 200, "lamp", 1]);
    expect(await takeNames(await suite.shop())).toEqual(first);
  });
});

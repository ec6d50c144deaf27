import { expect } from "bun:test";
import { openAccount } from "../../support/account.ts";
import { bearer, type Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";
import { makeUser } from "../../support/users.ts";

interface Conflict {
  name: string;
  /** The scopes of a key that may write, and the scope that reads the other record. */
  write: string[];
  read: string;
  /** Creates the other record. Returns its id. */
  make: (shop: Shop) => Promise<string>;
  request: string;
  body: object;
  field: string;
}

const lamp = { title: "Lamp", price: 1 };
const write = ["products:write"];
const read = "products:read";
const paid = async ({ call, createProduct }: Shop, reference?: string): Promise<string> => {
  const items = [{ product_id: (await createProduct()).id, quantity: 1 }];
  const { data } = await call<{ id: string }>("POST /orders/", { body: { items } });
  if (reference) await call(`POST /orders/${data.id}/pay/`, { body: { payment_reference: reference } });
  return data.id;
};

const conflicts: Conflict[] = [
  {
    name: "the slug of a product",
    ...{ write, read, field: "slug", request: "POST /products/", body: { ...lamp, slug: "lamp" } },
    make: async (shop) => (await shop.createProduct({ slug: "lamp" })).id,
  },
  {
    name: "the SKU of a product",
    ...{ write, read, field: "sku", request: "PATCH /products/:own/", body: { sku: "L-1" } },
    make: async (shop) => (await shop.createProduct({ sku: "L-1" })).id,
  },
  {
    name: "the SKU of a new variant",
    ...{ write, read, field: "sku", request: "POST /products/:own/variants/", body: { title: "A", sku: "L-1" } },
    make: async (shop) => (await shop.createProduct({ sku: "L-1" })).id,
  },
  {
    name: "the SKU of one of the variants of a new product",
    ...{ write, read, field: "variants.1.sku", request: "POST /products/" },
    body: { ...lamp, variants: [{ options: { size: "S" } }, { options: { size: "M" }, sku: "L-1" }] },
    make: async (shop) => (await shop.createProduct({ variants: [{ title: "A", sku: "L-1" }] })).id,
  },
  {
    name: "the slug of a category",
    ...{ write, read, field: "slug", request: "POST /categories/", body: { title: "Other", slug: "home" } },
    make: async ({ call }) => (await call<{ id: string }>("POST /categories/", { body: { title: "Home" } })).data.id,
  },
  {
    name: "the email of a user",
    ...{ write: ["users:write"], read: "users:read", field: "email" },
    request: "POST /users/",
    body: { email: "ADA@example.com" },
    make: async (shop) => (await makeUser(shop, { email: "ada@example.com" })).id,
  },
  {
    name: "the payment reference of an order",
    ...{ write: ["orders:write"], read: "orders:read", field: "payment_reference" },
    request: "POST /orders/:order/pay/",
    body: { payment_reference: "card-1" },
    make: (shop) => paid(shop, "card-1"),
  },
];

onDatabase("file", (suite) => {
  const { test } = suite;
  for (const { name, write, read, make, request, body, field } of conflicts) {
    test(`${name}, used twice, is refused with 5302; callers who may read the other record also get its id`, async (shop) => {
      const id = await make(shop);
      const own = (await shop.createProduct()).id;
      const path = request.replace(":own", own).replace(":order", await paid(shop));
      const staff = await openAccount(shop, { role: "staff" });
      const asKey = async (scopes: string[]) =>
        shop.call(path, { body, auth: bearer(await shop.issueKey({ scopes: scopes as never })) });
      const replies = [await asKey([...write, read]), await staff.call(path, { body }), await asKey(write)];
      expect(replies.map(({ code, fields }) => [code, fields])).toEqual(Array(3).fill([5302, [field]]));
      expect(replies.map(({ error }) => error?.details?.[0]?.id)).toEqual([id, id, undefined]);
      expect(replies[2]?.text).not.toContain(id);
    });
  }
});

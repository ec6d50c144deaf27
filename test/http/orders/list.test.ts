import { expect, test } from "bun:test";
import { readOrderPages, readOrders } from "../../../src/server/modules/orders/list.ts";
import { type Account, openAccount } from "../../support/account.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { actOn, makeOrder, type OrderReply } from "../../support/orders.ts";
import { addressIn } from "../../support/sale.ts";
import { onDatabase } from "../../support/suite.ts";
import { makeUser } from "../../support/users.ts";

const second = 1000;

onDatabase("file", (suite) => {
  /** Creates this many orders, one second after another. */
  async function fill(count: number): Promise<{ shop: Shop; made: OrderReply[]; product: string }> {
    const shop = await suite.shop();
    const { id: product } = await shop.createProduct();
    const made: OrderReply[] = [];
    for (let i = 0; i < count; i++) {
      made.push(await makeOrder(shop, [{ product_id: product }]));
      suite.app.clock.advance(second);
    }
    return { shop, made, product };
  }
  const list = async ({ call }: Shop, query: Record<string, string | number> = {}) => {
    const { data, status, text, page } = await call<OrderReply[]>("GET /orders/", { query });
    if (status !== 200) throw new Error(text);
    return { numbers: data.map(({ number }) => number), data, page };
  };

  test("a list of orders is newest first, and can be sorted by creation, update and number", async () => {
    const { shop, made } = await fill(3);
    await actOn(shop, made[0] as OrderReply, "pay");
    expect((await list(shop)).numbers).toEqual([3, 2, 1]);
    expect((await list(shop, { sort: "created_at" })).numbers).toEqual([1, 2, 3]);
    expect((await list(shop, { sort: "number" })).numbers).toEqual([1, 2, 3]);
    expect((await list(shop, { sort: "-number" })).numbers).toEqual([3, 2, 1]);
    expect((await list(shop, { sort: "updated_at" })).numbers).toEqual([2, 3, 1]);
    expect((await list(shop, { sort: "-updated_at" })).numbers).toEqual([1, 3, 2]);
  });

  test("a list of orders filters by status, number, customer, ids and times, and counts the matches", async () => {
    const { shop, made, product } = await fill(5);
    const [first, next, third] = made as [OrderReply, OrderReply, OrderReply];
    await actOn(shop, first, "pay");
    await actOn(shop, next, "cancel");
    await actOn(shop, third, "pay");
    await actOn(shop, third, "refund");
    const ordered = { items: [{ product_id: product, quantity: 1 }], email: "Grace@example.com", shipping: 0 };
    const person = {
      shipping_address: { ...addressIn(), name: "Özge Braun" },
      customer_id: (await makeUser(shop, { name: "Hopper" })).id,
    };
    const byMail = await shop.call<OrderReply>("POST /orders/", { body: { ...ordered, ...person } });
    await actOn(shop, byMail.data, "cancel");
    const cases: [Record<string, string | number>, number[]][] = [
      [{ email: "grace@EXAMPLE.com" }, [6]],
      [{ status: "pending" }, [5, 4]],
      [{ status: "paid" }, [1]],
      [{ status: "cancelled" }, [6, 3, 2]],
      [{ payment_status: "refunded" }, [3]],
      [{ status: "cancelled", payment_status: "unpaid" }, [6, 2]],
      [{ number: 4 }, [4]],
      [{ customer_id: person.customer_id }, [6]],
      [{ user_id: person.customer_id }, [6]],
      [{ customer_id: "usr_x" }, []],
      [{ number: 99 }, []],
      ...["özge b", "BRAUN", "grace@EX", "hop", "#6", " rf36 6 "].map((q): [{ q: string }, number[]] => [{ q }, [6]]),
      [{ q: "opper" }, []],
      [{ q: "RF00 6" }, []],
      [{ q: "braun", status: "paid" }, []],
      [{ email: "NOBODY@example.com" }, []],
      [{ email: "no address" }, []],
      [{ ids: `${first.id},${third.id},ord_x` }, [3, 1]],
      [{ "created_at[gte]": third.created_at }, [6, 5, 4, 3]],
      [{ "created_at[gt]": third.created_at }, [6, 5, 4]],
      [{ "created_at[lt]": third.created_at, "created_at[gte]": next.created_at }, [2]],
      [{ "updated_at[gt]": (made[4] as OrderReply).updated_at }, [6, 3, 2, 1]],
    ];
    for (const [query, numbers] of cases) {
      const found = await list(shop, { ...query, include_total: "true" });
      expect([query, found.numbers]).toEqual([query, numbers]);
      expect(found.page.total).toBe(numbers.length);
    }
    for (const query of [
      { status: "open" },
      { number: 0 },
      { sort: "total" },
      { "created_at[gt]": "soon" },
      { q: " " },
    ]) {
      expect((await shop.call("GET /orders/", { query: query as never })).fields).toEqual(Object.keys(query));
    }
  });

  const absent = "ord_01h455vb4pex5vsknk084sn02q";
  async function open(): Promise<{ shop: Shop; product: string; eve: Account; order: OrderReply }> {
    const shop = await suite.shop();
    const { id: product } = await shop.createProduct({ stock: 20 });
    const eve = await openAccount(shop);
    const order = await makeOrder(shop, [{ product_id: product }], { customer_id: eve.id });
    return { shop, product, eve, order };
  }

  test("customers see, list and cancel their own orders; orders of others are not found", async () => {
    const { shop, product, eve, order } = await open();
    const other = await openAccount(shop);
    const guest = await makeOrder(shop, [{ product_id: product }]);
    const { needs_attention: _attention, staff_note: _note, disputes: _disputes, withdrawals: _all, ...shown } = order;
    expect((await eve.call<object>(`GET /orders/${order.id}/`)).data).toEqual(shown);
    expect((await eve.call<object[]>("GET /orders/")).data).toEqual([shown]);
    expect((await other.call<OrderReply[]>("GET /orders/")).data).toEqual([]);
    const token = { user_id: other.id, token: other.token };
    for (const name of ["attention", "q"]) {
      expect((await other.call("GET /orders/", { query: { ...token, [name]: "any" } })).code).toBe(5300);
    }
    for (const query of [{ customer_id: eve.id }, { customer_id: "" }]) {
      expect((await other.call("GET /orders/", { query: { ...token, ...query } })).code).toBe(5301);
    }
    for (const id of [guest.id, absent, "ord_x", "%00"]) {
      expect((await other.call(`POST /orders/${id}/cancel/`)).code).toBe(5301);
    }
    expect((await eve.call<OrderReply>(`POST /orders/${order.id}/cancel/`)).data.status).toBe("cancelled");
  });

  test("orders for commands are read page by page, without other stores' orders", async () => {
    const shop = await suite.shop({ tenant: { currency: "KWD" } });
    const other = await suite.shop();
    for (const one of [shop, other]) {
      const { id: product_id } = await one.createProduct({ price: 1 });
      const { id: customer_id } = await openAccount(one);
      await makeOrder(one, [{ product_id }], { customer_id });
      await makeOrder(one, [{ product_id }]);
    }
    const ctx = await tenantContext(shop);
    expect((await readOrders(ctx, {}, 2)).map(({ number }) => number)).toEqual([2, 1]);
    expect(await readOrders(ctx, {}, 1)).toHaveLength(1);
    const pages: unknown[] = [];
    for await (const page of readOrderPages(ctx, { sort: "created_at" })) pages.push(page.map(({ number }) => number));
    expect(pages).toEqual([[1, 2]]);
  });
});

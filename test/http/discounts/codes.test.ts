import { expect } from "bun:test";
import { expireDueOrders } from "../../../src/server/modules/orders/expiry.ts";
import { openAccount } from "../../support/account.ts";
import { newAddress } from "../../support/client.ts";
import { tenantContext } from "../../support/factories.ts";
import { actOn, makeOrder, type OrderReply, unlimitedOrders } from "../../support/orders.ts";
import { findInconsistencies } from "../../support/record-check.ts";
import { addressIn, createCode, openPage, setShipping, usesOf } from "../../support/sale.ts";
import { type ApiScenario, runScenarios, type ScenarioRow, scenariosOf } from "../../support/scenarios.ts";
import { onEachDatabase } from "../../support/suite.ts";

const hour = 3_600_000;
const absent = "prod_01h455vb4pex5vsknk084sn02q";

const scenarios: ApiScenario[] = scenariosOf("POST /discounts/", [
  ["a percentage", { body: { code: "SUMMER10", percent: 12.5 } }, 201],
  [
    "an amount, with all conditions",
    { body: { code: "five_5", amount: 5, minimum: 30, limit: 100, per_customer: 1 } },
    201,
  ],
  ["free shipping", { body: { code: "SHIP-FREE", free_shipping: true, from: "2030-01-01T00:00:00Z" } }, 201],
  ...(
    [
      [{ percent: 0 }, "percent"],
      [{ percent: 100.001 }, "percent"],
      [{ percent: 1.2345 }, "percent"],
      [{ percent: "10" }, "percent"],
      [{}, "percent"],
      [{ percent: 10, amount: 5 }, "percent"],
      [{ percent: 10, free_shipping: true }, "percent"],
      [{ amount: 0 }, "amount"],
      [{ amount: 0.001 }, "amount"],
      [{ amount: -5 }, "amount"],
      [{ percent: 10, minimum: 0.001 }, "minimum"],
      [{ percent: 10, limit: 0 }, "limit"],
      [{ percent: 10, per_customer: 1.5 }, "per_customer"],
      [{ percent: 10, product_ids: [absent, "mug"] }, "product_ids.1"],
      [{ percent: 10, category_ids: [absent] }, "category_ids.0"],
      [{ percent: 10, from: "2030-02-01T00:00:00Z", until: "2030-01-01T00:00:00Z" }, "until"],
      [{ percent: 10, uses: 5 }, "uses"],
    ] as const
  ).map(([fields, field]): ScenarioRow => [JSON.stringify(fields), { body: { code: "X", ...fields } }, 5102, field]),
  ...["", " ", "TEN %", "ZEHN€", "-TEN", "x".repeat(51), 10].map(
    (code): ScenarioRow => [`the code ${JSON.stringify(code)}`, { body: { code, percent: 10 } }, 5102, "code"],
  ),
]);

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  // The number is smaller on a libSQL server, where one transaction runs at a time and takes several round trips.
  const checkouts = suite.kind === "file" ? 64 : 16;
  runScenarios(suite, scenarios);

  async function open(code: Record<string, unknown>, product: Record<string, unknown> = {}) {
    const shop = await suite.shop({ tenant: unlimitedOrders });
    const { id: discount } = await createCode(shop, { code: "TEN", ...code });
    const { id: product_id } = await shop.createProduct({ price: 10, ...product });
    const items = [{ product_id, quantity: 1 }];
    const page = await openPage(shop);
    const place = async (fields: Record<string, unknown> = {}, call = page, more: Record<string, unknown> = {}) => {
      const body = { items, discount_code: "TEN", email: "eve@example.com", ...fields };
      const reply = await call<OrderReply>("POST /orders/", { body, address: newAddress(), ...more });
      return { ...reply, code: reply.code ?? reply.status };
    };
    const uses = () => usesOf(shop, discount);
    return { shop, discount, product_id, items, page, place, uses };
  }
  const expire = async () => {
    suite.app.clock.advance(hour);
    while ((await expireDueOrders(suite.app.system)) > 0);
  };

  onFile("a discount code ignores case, is unique in its store, and can be listed, read and ended", async () => {
    const { shop, discount, place } = await open({ percent: 10 });
    expect((await place({ discount_code: " ten " })).data).toMatchObject({
      discount_minor: 100,
      discount_code: "TEN",
    });
    const taken = await shop.call("POST /discounts/", { body: { code: "Ten", amount: 1 } });
    expect([taken.code, taken.fields]).toEqual([5302, ["code"]]);
    const { code: other } = await (await suite.shop()).call("POST /discounts/", { body: { code: "TEN", amount: 1 } });
    expect(other).toBeUndefined();
    for (const name of [discount, "tEn"]) {
      expect((await shop.call(`GET /discounts/${name}/`)).data).toMatchObject({
        id: discount,
        code: "TEN",
        percent: 10,
        uses: 1,
      });
    }
    await createCode(shop, { code: "B", amount: 5, until: "2030-12-31T00:00:00Z" });
    const { data, page } = await shop.call<{ code: string }[]>("GET /discounts/", { query: { limit: 1 } });
    const rest = await shop.call<{ code: string }[]>("GET /discounts/", {
      query: { cursor: page.next_cursor ?? "" },
    });
    expect([...data, ...rest.data].map(({ code }) => code).sort()).toEqual(["B", "TEN"]);
    expect((await shop.call(`POST /discounts/${discount}/end/`)).data).toMatchObject({
      until: new Date(suite.app.clock.now()).toISOString(),
    });
    expect((await place()).code).toBe(5309);
    expect((await shop.call("GET /discounts/nothing/")).code).toBe(5301);
    expect((await (await suite.shop()).call(`GET /discounts/${discount}/`)).code).toBe(5301);
  });

  onFile("unknown, future, expired and used-up codes get the same reply", async () => {
    const { shop, place, items } = await open({ percent: 10, minimum: 20 });
    const now = suite.app.clock.now();
    const at = (ms: number) => new Date(now + ms).toISOString();
    await createCode(shop, { code: "SOON", percent: 10, from: at(1) });
    await createCode(shop, { code: "OVER", percent: 10, until: at(0) });
    await createCode(shop, { code: "ONCE", percent: 10, limit: 1 });
    await createCode(shop, { code: "MINE", percent: 10, per_customer: 1 });
    for (const discount_code of ["ONCE", "MINE"]) expect((await place({ discount_code })).code).toBe(201);
    const refused = async (discount_code: string) => {
      const { code, text, requestId } = await place({ discount_code });
      return [code, text.replace(requestId, "")];
    };
    const unknown = await refused("NOTHING");
    expect(unknown[0]).toBe(5309);
    for (const code of ["SOON", "OVER", "ONCE", "MINE", "", "\u0000", "x".repeat(100), "TEN%"]) {
      expect([code, await refused(code)]).toEqual([code, unknown]);
    }
    const few = await place();
    expect([few.code, few.error?.message]).toEqual([5309, "The discount code needs goods for 20.00 EUR or more."]);
    expect(few.error?.details).toEqual([{ field: "discount_code", message: "20.00 EUR" }]);
    const enough = [{ ...items[0], quantity: 2 }];
    expect((await place({ items: enough })).data).toMatchObject({ discount_minor: 200, total_minor: 1800 });
    suite.app.clock.advance(1);
    expect((await place({ discount_code: "SOON" })).code).toBe(201);
  });

  onFile("a code for products and categories reduces only these, including subcategories", async () => {
    const { shop, place, product_id } = await open({ percent: 50 });
    const category = async (title: string, parent_id?: string) =>
      (await shop.call<{ id: string }>("POST /categories/", { body: { title, ...(parent_id && { parent_id }) } })).data
        .id;
    const prints = await category("Prints");
    const small = await category("Small", prints);
    const tiny = await category("Tiny", small);
    const frames = await category("Frames");
    const inside = await shop.createProduct({ price: 8, category_ids: [tiny] });
    const frame = await shop.createProduct({ price: 4, category_ids: [frames] });
    await createCode(shop, { code: "PRINTS", percent: 25, category_ids: [prints] });
    await createCode(shop, { code: "BOTH", amount: 9, product_ids: [product_id], category_ids: [small] });
    const items = [product_id, inside.id, frame.id].map((id) => ({ product_id: id, quantity: 1 }));
    const discounts = async (discount_code: string) =>
      (await place({ items, discount_code })).data.items.map(({ discount_minor }) => discount_minor);
    expect(await discounts("PRINTS")).toEqual([0, 200, 0]);
    expect(await discounts("BOTH")).toEqual([500, 400, 0]);
    const none = await place({ items: [items[2]], discount_code: "PRINTS" });
    expect([none.code, none.error?.message]).toEqual([5309, "The discount code does not apply to these goods."]);
  });

  onFile("a discount never exceeds the value of the goods, and an order of 0 is paid at once", async () => {
    const { shop, place } = await open({ amount: 99 });
    const free = await place();
    expect(free.data).toMatchObject({ discount_minor: 1000, total_minor: 0, status: "paid", payment_status: "paid" });
    await createCode(shop, { code: "SHIP", free_shipping: true });
    const [rate] = await setShipping(shop, [{}]);
    const address = { shipping_address: addressIn(), shipping_rate: rate?.id };
    expect((await place({ ...address, discount_code: null })).data).toMatchObject({
      shipping_minor: 490,
      total_minor: 1490,
    });
    const shipped = (await place({ ...address, discount_code: "SHIP" })).data;
    expect(shipped).toMatchObject({ shipping_minor: 0, discount_minor: 0, total_minor: 1000, discount_code: "SHIP" });
    // The discount covers the goods, so only shipping must be paid.
    expect((await place(address)).data).toMatchObject({ total_minor: 490, status: "pending" });
    const elsewhere = { ...address, shipping_address: addressIn("CH") };
    expect((await place({ ...elsewhere, discount_code: "SHIP" })).code).toBe(5308);
  });

  test(`${checkouts} concurrent orders never exceed a code's limit, and the error of refused orders says that the code does not apply`, async () => {
    const { place, uses } = await open({ percent: 10, limit: 7 });
    const replies = await Promise.all(
      Array.from({ length: checkouts }, (_, n) => place({ email: `eve-${n}@example.com` })),
    );
    expect(replies.filter(({ code }) => code === 201)).toHaveLength(7);
    expect(replies.filter(({ code }) => code === 5309)).toHaveLength(checkouts - 7);
    expect(await uses()).toBe(7);
  });

  test(`${checkouts} concurrent orders of one customer, by user or email, never exceed the limit per customer`, async () => {
    const { shop, place, uses } = await open({ percent: 10, per_customer: 2 });
    const eve = await openAccount(shop, { email: "eve-of-codes@example.com" });
    const own = { email: undefined };
    const guest = { email: "EVE-of-codes@example.com" };
    const replies = await Promise.all(
      Array.from({ length: checkouts }, (_, n) => (n % 2 ? place(own, eve.call as never) : place(guest))),
    );
    expect(replies.filter(({ code }) => code === 201)).toHaveLength(2);
    expect(await uses()).toBe(2);
    // With another email in the order, the customer is the same.
    expect((await place({ email: "other@example.com" }, eve.call as never)).code).toBe(5309);
    expect((await place({ email: "bob@example.com" })).code).toBe(201);
  });

  onFile(
    "an order that expires, or is cancelled or refunded before it is sent, no longer counts as a use of its code",
    async () => {
      const { shop, place, uses, items } = await open({ percent: 10, limit: 1, per_customer: 1 });
      const first = (await place()).data;
      expect([(await place()).code, await uses()]).toEqual([5309, 1]);
      await actOn(shop, first, "cancel");
      expect(await uses()).toBe(0);
      expect((await place()).code).toBe(201);
      await expire();
      expect(await uses()).toBe(0);
      const paid = (await place()).data;
      await actOn(shop, paid, "pay");
      await expire();
      expect(await uses()).toBe(1);
      await actOn(shop, paid, "refund", { body: { amount: 1 } });
      expect(await uses()).toBe(1);
      await actOn(shop, paid, "refund");
      expect(await uses()).toBe(0);
      // After a parcel was sent, the use of the code counts.
      const sent = await makeOrder(shop, items, { discount_code: "ten" });
      await actOn(shop, sent, "pay");
      await actOn(shop, sent, "fulfill");
      await actOn(shop, sent, "refund");
      expect(await uses()).toBe(1);
      expect((await findInconsistencies(await tenantContext(shop))).inconsistencies).toEqual([]);
    },
  );

  onFile("after ten refused codes in ten minutes, dry runs included, an IP address can try no more", async () => {
    const { shop, place, page, items } = await open({ percent: 10 });
    const address = newAddress();
    const attempt = async (discount_code: string, n = 0, from = address) => {
      const query = n % 2 ? { dry_run: "true" } : {};
      // With an idempotency key, the order and its stored reply have one transaction.
      const headers = n % 3 ? {} : { "idempotency-key": crypto.randomUUID() };
      const reply = await place({ discount_code }, page, { address: from, query, headers });
      return [reply.code, reply.headers.get("retry-after")];
    };
    for (let n = 0; n < 9; n++) expect(await attempt(`GUESS-${n}`, n)).toEqual([5309, null]);
    expect(await attempt("TEN")).toEqual([201, null]);
    suite.app.clock.advance(60_000);
    expect(await attempt("GUESS-9", 1)).toEqual([5309, null]);
    // An existing code is refused, too, so that more guesses reveal nothing.
    for (const code of ["GUESS-10", "TEN"]) expect(await attempt(code, 1)).toEqual([5107, "540"]);
    expect((await place({ discount_code: null }, page, { address })).code).toBe(201);
    expect(await attempt("TEN", 0, newAddress())).toEqual([201, null]);
    suite.app.clock.advance(9 * 60_000);
    expect(await attempt("TEN")).toEqual([201, null]);
    const [other, same] = [await suite.shop({ tenant: unlimitedOrders }), newAddress()];
    await Promise.all(Array.from({ length: 20 }, (_, n) => attempt(`MANY-${n}`, n, same)));
    expect(await attempt("TEN", 0, same)).toEqual([5107, "600"]);
    // A backend sends the address of each guest, so one guest does not use up the tries of the others.
    const order = async (guest_ip: string, discount_code: string) =>
      (await place({ discount_code, guest_ip }, shop.call, { address: newAddress() })).code;
    const [guest, otherGuest] = [newAddress(), newAddress()];
    for (let n = 0; n < 10; n++) expect(await order(guest, `BACKEND-${n}`)).toBe(5309);
    expect([await order(guest, "TEN"), await order(otherGuest, "TEN")]).toEqual([5107, 201]);
    // The limit does not affect another store or the terminal.
    await createCode(other, { code: "TEN", percent: 10 });
    const { id: product_id } = await other.createProduct();
    const elsewhere = await openPage(other, same);
    expect((await place({ items: [{ product_id, quantity: 1 }] }, elsewhere, { address: same })).code).toBe(201);
    expect((await makeOrder(shop, items, { discount_code: "TEN" })).discount_minor).toBe(100);
  });
});

import { expect } from "bun:test";
import { revokeAccess } from "../../../src/server/modules/orders/correct.ts";
import { openAccount } from "../../support/account.ts";
import { newAddress } from "../../support/client.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { readOutbox } from "../../support/mail.ts";
import { makeOrder, type OrderReply, stockOf, unlimitedOrders } from "../../support/orders.ts";
import { addressIn, type GuestOrder, openPage, placeAsGuest, setShipping, setTaxes } from "../../support/sale.ts";
import { onDatabase } from "../../support/suite.ts";

/** The mails that visitors requested. */
const readAsked = async ({ app, namespace }: Pick<Shop, "app" | "namespace">) =>
  (await readOutbox(app, namespace)).filter(({ kind }) => kind !== "order_placed");

const day = 86_400_000;
const absent = "ord_01h455vb4pex5vsknk084sn02q";
const email = "eve@example.com";
const orderUrl = "https://shop.example/order";

onDatabase("file", (suite) => {
  const { test } = suite;
  async function open(tenant: Record<string, unknown> = {}) {
    const shop = await suite.shop({ tenant: { ...unlimitedOrders, orderUrl, ...tenant } });
    const { id: product } = await shop.createProduct({ price: 10, stock: 20 });
    const page = await openPage(shop);
    const read = async (id: string, token: string | null, request = `GET /orders/${id}/`) => {
      const { status, code, text, requestId, data } = await page<OrderReply>(request, {
        headers: { "x-order-token": token },
      });
      return { code: code ?? status, text: text.replace(requestId, "").replaceAll(id, "ID"), data };
    };
    return { shop, product, page, read };
  }

  test("a guest orders with a page's key, and sees and cancels the order with its token", async () => {
    const { shop, product, page, read } = await open();
    const fields = { phone: "+49 30 1", billing_address: { ...addressIn(), company: "Eve GmbH", vat_id: "DE1" } };
    const { access_token: token, ...order } = await placeAsGuest(page, product, {
      ...fields,
      metadata: { gift: true },
      note: "Ring twice.",
    });
    expect(order).toMatchObject({ ...fields, email, user_id: null, metadata: { gift: true }, note: "Ring twice." });
    expect(order).not.toContainAnyKeys(["staff_note", "needs_attention"]);
    expect(token.length).toBeGreaterThanOrEqual(32);
    expect((await read(order.id, token)).data).toEqual(order as never);
    const cancel = `POST /orders/${order.id}/cancel/`;
    expect((await read(order.id, "x".repeat(token.length), cancel)).code).toBe(5301);
    expect((await read(order.id, token, cancel)).data.status).toBe("cancelled");
    expect(await stockOf(shop, product)).toEqual({ stock: 20, reserved: 0 });
    // The order's row contains neither the token nor a hash of it.
    const { rows } = await shop.app.db.execute({ sql: "select * from orders where id = ?", args: [order.id] });
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  test("an order with a storefront key is refused if it sets a field of the store, names a customer or has no email", async () => {
    const { shop, product, page } = await open();
    const eve = await openAccount(shop);
    const items = [{ product_id: product, quantity: 1 }];
    const expires_in = 3600;
    for (const fields of [
      ...[{ shipping: 0 }, { tax: 0 }, { guest_ip: "203.0.113.1" }, { expires_in }, { use_points: 1 }],
      ...[{ customer_id: eve.id }, { user_id: eve.id }],
    ]) {
      const { code } = await page("POST /orders/", { body: { items, email, ...fields } });
      expect([fields, code]).toEqual([fields, 5300]);
    }
    const query = { user_id: eve.id };
    expect((await page("POST /orders/", { body: { items, email }, query })).code).toBe(5300);
    for (const wrong of [undefined, null, "", "nobody", "a@b"]) {
      const { code, fields } = await page("POST /orders/", { body: { items, email: wrong } });
      expect([wrong, code, fields]).toEqual([wrong, 5102, ["email"]]);
    }
    // A dry run needs no email, because the buyer may not have typed it yet. Backends and customers may omit the email.
    expect((await page("POST /orders/", { body: { items }, query: { dry_run: "true" } })).status).toBe(200);
    expect((await makeOrder(shop, items)).email).toBeNull();
    const own = await eve.call<OrderReply>("POST /orders/", { body: { items } });
    expect(own.data).toMatchObject({ user_id: eve.id, email: eve.email });
    expect(own.data).not.toContainKey("access_token");
    expect((await eve.call("POST /orders/", { body: { items, expires_in } })).code).toBe(5300);
  });

  test("a page that also sends its customer's token orders, reads and cancels for the customer", async () => {
    const { product, page, shop } = await open();
    const eve = await openAccount(shop);
    const query = { user_id: eve.id, token: eve.token };
    const { data: order } = await page<OrderReply>("POST /orders/", {
      body: { items: [{ product_id: product, quantity: 1 }] },
      query,
    });
    expect(order).toMatchObject({ user_id: eve.id, email: eve.email });
    expect((await page<OrderReply[]>("GET /orders/", { query })).data.map(({ id }) => id)).toEqual([order.id]);
    expect((await page(`GET /orders/${order.id}/`, { query })).status).toBe(200);
    expect((await page<OrderReply>(`POST /orders/${order.id}/cancel/`, { query })).data.status).toBe("cancelled");
    const ended = { ...query, token: "v2.ended" };
    expect((await page("GET /orders/", { query: ended })).code).toBe(5205);
    // For routes that a page's key may call, the token does not matter.
    const lost = { body: { number: order.number, email }, query };
    expect((await page("POST /orders/access/", lost)).status).toBe(200);
  });

  test("a token opens only its own order, for 180 days or until it is revoked; otherwise the order is not found", async () => {
    const { shop, product, page, read } = await open();
    const [one, other] = [await placeAsGuest(page, product), await placeAsGuest(page, product)];
    const unknown = await read(absent, one.access_token);
    expect(unknown.code).toBe(5301);
    const refused = async (id: string, token: string | null) => {
      expect(await read(id, token)).toEqual(unknown);
      expect(await read(id, token, `POST /orders/${id}/cancel/`)).toEqual({ ...unknown, text: expect.anything() });
    };
    const { access_token: token } = one;
    for (const wrong of [
      null,
      "",
      "x",
      token.slice(1),
      `${token}0`,
      token.toUpperCase(),
      "é".repeat(token.length),
      other.access_token,
    ]) {
      await refused(one.id, wrong);
    }
    // Another store does not know this id, and an order of a customer has no token.
    const elsewhere = await open();
    expect((await elsewhere.read(one.id, token)).code).toBe(5301);
    await revokeAccess(await tenantContext(shop), one.id);
    await refused(one.id, token);
    suite.app.clock.advance(180 * day - 1);
    expect((await read(other.id, other.access_token)).code).toBe(200);
    suite.app.clock.advance(1);
    await refused(other.id, other.access_token);
    await shop.call(`PATCH /orders/${other.id}/`, { body: { staff_note: "Called." } });
    const again = await read(other.id, other.access_token);
    expect(again.code).toBe(200);
    expect(again.text).not.toContain("Called.");
  });

  test("a guest's repeated call gets the stored reply only with the order token of the first call", async () => {
    const { shop, product, page } = await open();
    const one = await placeAsGuest(page, product);
    const cancel = (token?: string) =>
      page(`POST /orders/${one.id}/cancel/`, {
        headers: { "idempotency-key": "k".repeat(22), ...(token !== undefined && { "x-order-token": token }) },
      });
    const [done, again] = [await cancel(one.access_token), await cancel(one.access_token)];
    expect([done.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    for (const token of [undefined, "x", one.access_token.slice(1)]) expect((await cancel(token)).code).toBe(5301);
    expect((await shop.call<OrderReply>(`GET /orders/${one.id}/`)).data.status).toBe("cancelled");
  });

  test("a stored reply contains no order token, because each replay computes the token again; nobody can guess a page's idempotency key", async () => {
    const { shop, product, page, read } = await open();
    const body = { items: [{ product_id: product, quantity: 1 }], email };
    const send = (key: string) => page<GuestOrder>("POST /orders/", { body, headers: { "idempotency-key": key } });
    expect((await send("k".repeat(21))).code).toBe(5100);
    const replies = [await send("k".repeat(22)), await send("k".repeat(22))];
    expect(replies.map(({ headers }) => headers.get("idempotency-replayed"))).toEqual([null, "true"]);
    const [first, second] = replies.map(({ data }) => data) as [GuestOrder, GuestOrder];
    expect(second).toEqual(first);
    const { rows } = await shop.app.db.execute("select * from idempotency_keys");
    expect(JSON.stringify(rows)).toContain(first.id);
    expect(JSON.stringify(rows)).not.toContain(first.access_token);
    await revokeAccess(await tenantContext(shop), first.id);
    const { access_token } = (await send("k".repeat(22))).data;
    expect((await read(first.id, access_token)).code).toBe(5301);
  });

  test("if the total differs from the one that the page showed, the order is refused with the new total, and reserves nothing", async () => {
    const { shop, product, page } = await open({ pricesIncludeTax: "yes", country: "DE" });
    await setTaxes(shop, [["standard", "DE", 19]]);
    const body = { items: [{ product_id: product, quantity: 2 }], email };
    for (const expected_total of [19.99, 20.01, 0]) {
      const { code, error } = await page("POST /orders/", { body: { ...body, expected_total } });
      expect([code, error?.details]).toEqual([5302, [{ field: "expected_total", message: "The total is 20.00 EUR." }]]);
    }
    expect(await stockOf(shop, product)).toEqual({ stock: 20, reserved: 0 });
    const { data } = await page<OrderReply>("POST /orders/", { body: { ...body, expected_total: 20 } });
    expect(data).toMatchObject({ number: 1, total: 20, tax_minor: 319 });
  });

  test("the link of an order is mailed again only to the order's own address; the reply reveals nothing, and such mails are limited", async () => {
    const { shop, product, page, read } = await open();
    const order = await placeAsGuest(page, product, { lang: "de" });
    const ask = async (number: number, to: string, address = newAddress()) => {
      const { status, text, requestId, headers } = await page("POST /orders/access/", {
        body: { number, email: to },
        address,
      });
      return [status, text.replace(requestId, ""), [...headers.keys()].sort()];
    };
    const known = await ask(order.number, "EVE@example.com");
    for (const [number, to] of [
      [order.number, "bob@example.com"],
      [99, email],
    ] as const) {
      expect(await ask(number, to)).toEqual(known);
    }
    const [mail, ...more] = await readAsked(shop);
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ kind: "order_link", to: { email, lang: "de" }, values: { number: "1" } });
    const [, id = "", token = ""] =
      /^https:\/\/shop\.example\/order#(ord_\w+)\.(.+)$/.exec(mail?.values?.link ?? "") ?? [];
    expect([id, (await read(id, token)).code]).toEqual([order.id, 200]);
    // An order gets at most three mails in 20 minutes, and calls for unknown orders send no mail.
    for (let n = 0; n < 5; n++) expect(await ask(order.number, email)).toEqual(known);
    expect(await readAsked(shop)).toHaveLength(3);
    // These are ten calls from one address.
    suite.app.clock.advance(20 * 60_000);
    const address = newAddress();
    for (let n = 0; n < 10; n++) await ask(n + 5, `someone-${n}@example.com`, address);
    expect(await ask(order.number, email, address)).toEqual(known);
    expect(await readAsked(shop)).toHaveLength(3);
    await ask(order.number, email);
    expect(await readAsked(shop)).toHaveLength(4);
  });

  test("a withdrawal is recorded unchanged and gets a receipt; the reply for unknown orders is the same", async () => {
    const { shop, product, page } = await open();
    const { access_token: token, ...order } = await placeAsGuest(page, product);
    const declare = async (fields: Record<string, unknown>, address = newAddress()) => {
      const body = { number: order.number, email, name: "Eve", ...fields };
      const { status, code, text, requestId } = await page("POST /orders/withdrawals/", { body, address });
      return [code ?? status, text.replace(requestId, "")];
    };
    const lines = [{ line_id: order.items[0]?.id, quantity: 1 }];
    const known = await declare({ lines, text: "Too big.\nSorry." });
    expect(known[0]).toBe(200);
    expect(await declare({ email: "bob@example.com" })).toEqual(known);
    expect(await declare({ number: 77 })).toEqual(known);
    const { data } = await shop.call<OrderReply>(`GET /orders/${order.id}/`);
    expect([data.needs_attention, data.status, data.refunded_minor]).toEqual([["withdrawal"], "pending", 0]);
    const sent = { order_id: order.id, number: 1, email, name: "Eve", lines, text: "Too big.\nSorry." };
    expect(data.withdrawals).toMatchObject([sent]);
    expect((await page(`GET /orders/${order.id}/`, { headers: { "x-order-token": token } })).text).not.toContain(
      "Sorry",
    );
    const list = async (query = "") => (await shop.call("GET /orders/withdrawals/", { query })).data;
    const unknown = { ...sent, order_id: null, lines: null, text: null };
    expect(await list()).toMatchObject([{ ...unknown, number: 77 }, { ...unknown, email: "bob@example.com" }, sent]);
    expect([await list("matched=true"), await list("matched=false")]).toMatchObject([[sent], [{}, {}]]);
    const mails = await readAsked(shop);
    expect(mails.map(({ kind }) => kind)).toEqual(Array(3).fill("withdrawal_received"));
    // No mail contains a stranger's text, because nobody has verified the address.
    for (const text of ["Too big", "Eve"]) expect(JSON.stringify(mails)).not.toContain(text);
    expect(mails.map(({ values }) => values?.items)).toEqual(["1 × Lamp", "", ""]);
    for (const [fields, field] of [
      [{ name: " " }, "name"],
      [{ email: "nobody" }, "email"],
      [{ number: 0 }, "number"],
      [{ lines: [] }, "lines"],
    ] as const) {
      expect([field, ...(await declare(fields))]).toEqual([field, 5102, expect.stringContaining(`"${field}"`)]);
    }
    // The fourth receipt within 20 minutes is not mailed, but the withdrawal is recorded. A person who knows only the
    // email address cannot use up these mails.
    for (let n = 0; n < 3; n++) await page("POST /orders/access/", { body: { number: 90 + n, email } });
    for (let n = 0; n < 3; n++) expect(await declare({})).toEqual(known);
    expect(await readAsked(shop)).toHaveLength(5);
    const address = newAddress();
    const many: unknown[] = [];
    for (let n = 0; n < 11; n++) many.push((await declare({ number: n % 2 ? order.number : 77 }, address))[0]);
    expect(many).toEqual([...Array(10).fill(200), 5107]);
  });

  test("the receipt of a withdrawal shows the time in the store's time zone; if no order matches, the store gets a mail", async () => {
    const { shop, page } = await open({ timezone: "Asia/Kolkata", notify: '["grace@example.com"]' });
    const body = { number: 77, email, name: "Eve", text: "Too big." };
    await page("POST /orders/withdrawals/", { body, address: newAddress() });
    const [alert, mail] = await readAsked(shop);
    const values = { number: "77", reason: "unknown_withdrawal" };
    expect(alert).toMatchObject({ kind: "needs_attention", to: { email: "grace@example.com" }, values });
    const local = new Date(suite.app.clock.now() + 330 * 60_000).toISOString().slice(0, 16).replace("T", " ");
    expect(mail?.values?.time).toBe(`${local} (Asia/Kolkata)`);
    const staff = await openAccount(shop, { role: "staff" });
    const todo = async () => (await staff.call<object[]>("GET /todo/")).data;
    expect(await todo()).toMatchObject([{ kind: "unknown_withdrawal", subject: "77", detail: `Eve, ${email}` }]);
    // Strangers cannot flood the store with mail.
    for (let n = 0; n < 7; n++) {
      await page("POST /orders/withdrawals/", { body: { ...body, number: 80 + n }, address: newAddress() });
    }
    expect((await readAsked(shop)).filter(({ kind }) => kind === "needs_attention")).toHaveLength(5);
    suite.app.clock.advance(14 * day);
    expect(await todo()).toEqual([]);
  });

  test("the receipt of a withdrawal lists items that were not refunded yet; without an order, it is in the language of the request", async () => {
    const { shop, product, page } = await open();
    const items = [{ product_id: product, quantity: 3 }];
    const { access_token: _, ...order } = await placeAsGuest(page, product, { items });
    await shop.call(`POST /orders/${order.id}/pay/`, { body: {} });
    const lines = [{ line_id: order.items[0]?.id, quantity: 1 }];
    expect((await shop.call(`POST /orders/${order.id}/refund/`, { body: { lines } })).status).toBe(200);
    const body = { number: order.number, email, name: "Eve" };
    await page("POST /orders/withdrawals/", { body, address: newAddress() });
    const unknown = { body: { ...body, number: 77 }, query: "lang=de", address: newAddress() };
    expect((await page("POST /orders/withdrawals/", unknown)).status).toBe(200);
    const mails = (await readAsked(shop)).filter(({ kind }) => kind === "withdrawal_received");
    expect(mails.map(({ values }) => values?.items)).toEqual(["2 × Lamp", ""]);
    expect(mails.map(({ language, to }) => language ?? (to as { lang?: string }).lang)).toEqual(["en", "de"]);
  });

  test("staff can change contact and addresses of an order, but not its amounts, country and zone", async () => {
    const { shop, product, page, read } = await open();
    const [rate] = await setShipping(shop, [
      { zone: "home" },
      { zone: "islands", postcodes: ["259"], price: 9 },
      { zone: "near", countries: ["AT"], price: 12 },
    ]);
    const shipping = { shipping_address: addressIn(), shipping_rate: rate?.id };
    const { access_token: token, ...order } = await placeAsGuest(page, product, shipping);
    const patch = (body: Record<string, unknown>, version?: number) =>
      shop.call<OrderReply>(`PATCH /orders/${order.id}/`, {
        body,
        headers: version === undefined ? {} : { "if-match": `"${version}"` },
      });
    expect((await patch({ note: "No." }, 7)).code).toBe(5303);
    const moved = { ...addressIn("DE", "80331"), company: "Eve GmbH" };
    const { data } = await patch({ shipping_address: moved, phone: "1", staff_note: "Called." }, 1);
    const { id: _id, ...amounts } = order;
    expect(data).toMatchObject({ shipping_address: moved, phone: "1", staff_note: "Called.", version: 2 });
    expect([data.total_minor, data.shipping_rate]).toEqual([amounts.total_minor, amounts.shipping_rate]);
    for (const address of [addressIn("AT", "1010"), addressIn("CH", "8000"), addressIn("DE", "25 938"), null]) {
      expect((await patch({ shipping_address: address })).code).toBe(5306);
    }
    for (const fields of [{ total: 1 }, { status: "paid" }, { shipping: 0 }, { email: "nobody" }]) {
      expect([fields, (await patch(fields)).code]).toEqual([fields, 5102]);
    }
    // The same address in other case is not a change, so the token stays valid.
    expect((await patch({ email: "EVE@example.com" })).status).toBe(200);
    expect((await read(order.id, token)).code).toBe(200);
    expect((await patch({ email: "bob@example.com" })).data.email).toBe("bob@example.com");
    expect((await read(order.id, token)).code).toBe(5301);
    expect(
      (await page("POST /orders/access/", { body: { number: order.number, email: "bob@example.com" } })).status,
    ).toBe(200);
    const link = (await readOutbox(shop.app, shop.namespace)).at(-1)?.values?.link ?? "";
    expect((await read(order.id, link.split(".").at(-1) ?? "")).code).toBe(200);
    const fields = { body: {} };
    await shop.call(`POST /orders/${order.id}/pay/`, fields);
    await shop.call(`POST /orders/${order.id}/fulfill/`, fields);
    expect((await patch({ phone: null })).code).toBe(5306);
    expect((await patch({ staff_note: null, metadata: { a: 1 } })).status).toBe(200);
  });
});

import { expect } from "bun:test";
import { purgePersons, purgeWithdrawals } from "../../../src/server/modules/orders/guests/persons.ts";
import { eraseGuest, eraseUser, exportGuest } from "../../../src/server/modules/personal-data/service.ts";
import { updateTenant } from "../../../src/server/modules/tenants/service.ts";
import { goodPassword, openAccount } from "../../support/account.ts";
import { newAddress } from "../../support/client.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { failureOf } from "../../support/failure.ts";
import { actOn, type OrderReply, readEvents, unlimitedOrders } from "../../support/orders.ts";
import { requestCode, reset } from "../../support/password-reset.ts";
import { addressIn, openPage, placeAsGuest } from "../../support/sale.ts";
import { readCode, signUp, verify } from "../../support/sign-up.ts";
import { onDatabase, type Suite } from "../../support/suite.ts";

const day = 86_400_000;
const email = "canary@example.com";
const canary = {
  email,
  phone: "+49 30 2477",
  note: "Canary note",
  metadata: { canary: "Canary gift" },
  shipping_address: { ...addressIn(), name: "Canary" },
  billing_address: { ...addressIn(), name: "Canary", company: "Canary GmbH" },
};
const noContact = { user_id: null, email: null, phone: null, note: null, staff_note: null, metadata: {} };
const noPerson = { ...noContact, shipping_address: null, billing_address: null };
const { shipping_address, billing_address } = canary;
/** The fields that tax law requires a store to keep. */
const invoiced = { shipping_address, billing_address };

async function open(suite: Suite) {
  const shop = await suite.shop({ tenant: { ...unlimitedOrders, orderUrl: "https://shop.example/order" } });
  const { id: product } = await shop.createProduct({ price: 10, stock: 50 });
  const page = await openPage(shop);
  const place = (fields: object = {}) => placeAsGuest(page, product, { ...canary, ...fields });
  const read = async (id: string) => (await shop.call<OrderReply>(`GET /orders/${id}/`)).data;
  const change = (id: string, body: object) => shop.call(`PATCH /orders/${id}/`, { body });
  const withdraw = (number: number, text = "Canary text") =>
    page("POST /orders/withdrawals/", { body: { number, email, name: "Canary", text }, address: newAddress() });
  return { shop, product, page, place, read, change, withdraw, ctx: await tenantContext(shop) };
}

async function finish(shop: Shop, order: { id: string }): Promise<void> {
  await actOn(shop, order, "pay");
  await actOn(shop, order, "fulfill");
}

async function purge({ app }: Shop): Promise<void> {
  while ((await purgePersons({ db: app.db, now: app.clock.now })) > 0);
}

const calendarOf = ({ app }: Shop) => ({
  year: (back: number) => new Date(app.clock.now()).getUTCFullYear() + back,
  goTo: (time: number) => app.clock.advance(time - app.clock.now()),
});

/** Returns all rows of a store that contain the person of these tests. */
async function traces({ app, namespace }: Shop): Promise<string[]> {
  const { rows: tables } = await app.db.execute(
    `select s.name from sqlite_schema s where type = 'table' and s.name not like 'sqlite_%' and s.name not like 'product_search%'
       and exists (select 1 from pragma_table_info(s.name) c where c.name = 'tenant_id')`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const sql = `select * from ${name} where tenant_id = (select id from tenants where namespace = ?)`;
    const { rows } = await app.db.execute({ sql, args: [namespace] });
    const texts = rows.map((row) => JSON.stringify(Object.values(row)));
    found.push(...texts.filter((text) => /canary|4 ?9 ?3 ?0 ?2 ?4 ?7 ?7/i.test(text)).map((text) => `${name} ${text}`));
  }
  return found;
}

onDatabase("file", (suite) => {
  const { test } = suite;

  /** Ways in which a guest proves an email address after an order. Each returns the id of the person's user. */
  const proofs: [how: string, prove: (shop: Shop, before: () => Promise<void>) => Promise<string | undefined>][] = [
    [
      "the code of a sign-up",
      async (shop, before) => {
        await signUp(shop, email);
        await before();
        await verify(shop, email, await readCode(shop, "sign_up_code"));
        return undefined;
      },
    ],
    [
      "the code for a new email",
      async (shop, before) => {
        const own = await openAccount(shop, { email: "earlier@example.com" });
        await own.call("PATCH /users/me/", { body: { email, password: goodPassword } });
        await before();
        const body = { code: await readCode(shop, "email_code") };
        expect((await own.call("POST /users/me/email/verify/", { body })).status).toBe(200);
        return own.id;
      },
    ],
    [
      "a reset of the password",
      async (shop, before) => {
        const own = await openAccount(shop, { email });
        await before();
        expect((await reset(shop, email, await requestCode(shop, email))).status).toBe(200);
        return own.id;
      },
    ],
    [
      "a mailed code to sign in",
      async (shop, before) => {
        await updateTenant(shop.app.system, shop.namespace, { signInByMail: "on" });
        const own = await openAccount(shop, { email });
        await before();
        await shop.call("POST /auth/code/", { body: { email }, address: newAddress() });
        const body = { email, code: await readCode(shop, "login_code") };
        expect((await shop.callAnonymously("POST /auth/login/", { body, address: newAddress() })).status).toBe(200);
        return own.id;
      },
    ],
  ];

  for (const [how, prove] of proofs) {
    test(`a customer gets the guest orders of an address only after proving it with ${how}`, async () => {
      const { shop, place, read } = await open(suite);
      const own = await place({ email: email.toUpperCase() });
      const other = await place({ email: "other@example.com" });
      const elsewhere = await open(suite);
      const foreign = await elsewhere.place();
      const id = await prove(shop, async () => {
        const { access_token: _token, ...before } = own;
        expect(await read(own.id)).toMatchObject(before);
      });
      const taken = await read(own.id);
      expect(taken.user_id).toStartWith("usr_");
      if (id !== undefined) expect(taken.user_id).toBe(id);
      expect(taken).toMatchObject({ status: "pending", email: own.email, version: own.version + 1 });
      const { data } = await shop.call<{ email_verified: boolean }>(`GET /users/${taken.user_id}/`);
      expect(data.email_verified).toBe(true);
      expect((await read(other.id)).user_id).toBeNull();
      expect((await elsewhere.read(foreign.id)).user_id).toBeNull();
      expect(await readEvents(shop, "order.updated")).toMatchObject([{ number: own.number }]);
    });
  }

  test("a customer who signs up without a code, or enters a wrong code, gets no guest orders", async () => {
    const { shop, place, read } = await open(suite);
    await updateTenant(shop.app.system, shop.namespace, { signUp: "open" });
    const order = await place();
    await signUp(shop, email);
    expect((await verify(shop, email, "000000")).status).not.toBe(200);
    expect((await read(order.id)).user_id).toBeNull();
  });

  test("after the erasure of a guest, only the addresses of paid orders name the guest; numbers, items and amounts are kept", async () => {
    const { shop, place, read, change, withdraw, ctx } = await open(suite);
    const [done, cancelled] = [await place(), await place()];
    const kept = await place({ email: "kept@example.com", note: "Kept", phone: null, metadata: {} });
    await change(done.id, { staff_note: "Canary is known" });
    await finish(shop, done);
    await withdraw(done.number);
    const attention = { kind: "withdrawal", action: "accept", note: "Canary called" };
    expect((await shop.call(`POST /orders/${done.id}/attention/`, { body: attention })).status).toBe(200);
    const refund = { shipping: 0, amount: 1, reason: "Canary reason" };
    expect((await shop.call(`POST /orders/${done.id}/refund/`, { body: refund })).status).toBe(200);
    const open5306 = await failureOf(eraseGuest(ctx, email));
    expect(open5306).toMatchObject({
      kind: "wrongState",
      message: expect.stringContaining(`Order ${cancelled.number}`),
    });
    await actOn(shop, cancelled, "cancel");
    const before = await read(done.id);
    expect(await exportGuest(ctx, email)).toMatchObject({
      email,
      orders: expect.arrayContaining([
        expect.objectContaining({ id: done.id, phone: canary.phone, billing_address: canary.billing_address }),
        expect.objectContaining({ id: cancelled.id }),
      ]),
      withdrawals: [{ number: done.number, name: "Canary", text: "Canary text" }],
      mail: [
        ...["order_placed", "order_placed", "order_paid", "order_shipped", "withdrawal_received"],
        ...["order_refunded", "order_cancelled"],
      ].map((kind) => ({
        kind,
        status: "waiting",
      })),
      retention: expect.stringMatching(/8 years.*After an erasure, only paid orders and their invoices have a name/),
    });
    await eraseGuest(ctx, email.toUpperCase());
    const { items, number, total_minor, received_minor, refunded_minor, status } = before;
    expect(await read(done.id)).toMatchObject({
      ...{ ...noContact, ...invoiced },
      ...{ items, number, total_minor, received_minor, refunded_minor, status },
    });
    expect(await read(cancelled.id)).toMatchObject(noPerson);
    const own = (await traces(shop)).filter((text) => !text.includes(kept.id));
    expect(own).toEqual([expect.stringContaining(`orders ["${done.id}"`)]);
    expect(own[0]).not.toMatch(/2477|Canary (note|is|gift)|canary@/);
    expect(await read(kept.id)).toMatchObject({ email: "kept@example.com", note: "Kept" });
    expect(await failureOf(exportGuest(ctx, email))).toMatchObject({ kind: "notFound" });
  });

  test("after the erasure of a user, only the addresses of paid orders remain, for the years that tax law requires", async () => {
    const { shop, product, withdraw, read, change, ctx } = await open(suite);
    const own = await openAccount(shop, { email });
    const { phone, note, metadata } = canary;
    const body = {
      items: [{ product_id: product, quantity: 1 }],
      shipping_address: { ...shipping_address, phone },
      billing_address,
      phone,
      note,
      metadata,
    };
    const { data } = await own.call<OrderReply>("POST /orders/", { body });
    await change(data.id, { staff_note: "Canary is known" });
    await finish(shop, data);
    await withdraw(data.number);
    await withdraw(77);
    const exported = await own.call<{ withdrawals: object[]; retention: string }>("GET /users/me/export/");
    expect(exported.data).toMatchObject({ withdrawals: [{ number: data.number }, { number: 77 }] });
    const { year, goTo } = calendarOf(shop);
    const keptUntil = Date.UTC(year(9), 0);
    goTo(Date.UTC(year(1), 0));
    await eraseUser(ctx, own.id);
    goTo(keptUntil - 1);
    await purge(shop);
    expect(await read(data.id)).toMatchObject({ ...noContact, ...invoiced, number: data.number, total_minor: 1000 });
    const left = await traces(shop);
    expect(left).toEqual([expect.stringContaining(`orders ["${data.id}"`)]);
    expect(left[0]).not.toMatch(/2477|Canary (note|is|gift)|canary@/);
    goTo(keptUntil);
    await purge(shop);
    expect(await read(data.id)).toMatchObject({ ...noPerson, number: data.number, total_minor: 1000 });
    expect(await traces(shop)).toEqual([]);
  });

  test("data with the email of a user cannot be exported or erased as the data of a guest", async () => {
    const { shop, place, read, ctx } = await open(suite);
    const order = await place();
    await actOn(shop, order, "cancel");
    await openAccount(shop, { email });
    for (const call of [exportGuest, eraseGuest]) {
      expect(await failureOf(Promise.resolve(call(ctx, email)))).toMatchObject({ kind: "wrongState" });
    }
    expect((await read(order.id)).email).toBe(email);
    expect(await failureOf(exportGuest(ctx, "nobody@example.com"))).toMatchObject({ kind: "notFound" });
  });
});

onDatabase("file", (suite) => {
  const { test } = suite;
  test("30 days after they end, guests' unpaid orders lose their personal data; other orders keep it", async () => {
    const { shop, product, place, read, page } = await open(suite);
    const own = await openAccount(shop, { email: "own@example.com" });
    const items = [{ product_id: product, quantity: 1 }];
    const ofCustomer = (await own.call<OrderReply>("POST /orders/", { body: { items, note: "Canary note" } })).data;
    const [cancelled, paid, pending] = [await place(), await place(), await place()];
    for (const order of [cancelled, ofCustomer]) await actOn(shop, order, "cancel");
    await finish(shop, paid);
    shop.app.clock.advance(30 * day - 1);
    await purge(shop);
    expect(await read(cancelled.id)).toMatchObject({ email, note: canary.note });
    shop.app.clock.advance(1);
    await purge(shop);
    expect(await read(cancelled.id)).toMatchObject({ ...noPerson, number: cancelled.number, total_minor: 1000 });
    const headers = { "x-order-token": cancelled.access_token };
    expect((await page(`GET /orders/${cancelled.id}/`, { headers })).code).toBe(5301);
    for (const { id } of [paid, pending]) expect(await read(id)).toMatchObject({ email, note: canary.note });
    expect(await read(ofCustomer.id)).toMatchObject({ user_id: own.id, email: own.email, note: "Canary note" });
  });

  test("an ended order names its buyer for as many years as the store keeps invoices", async () => {
    const { shop, product, place, read } = await open(suite);
    await updateTenant(shop.app.system, shop.namespace, { keepInvoices: 2 });
    const other = await open(suite);
    const [foreign, order, late] = [await other.place(), await place(), await place()];
    const own = await openAccount(shop, { email: "own@example.com" });
    const items = [{ product_id: product, quantity: 1 }];
    const ofCustomer = (await own.call<OrderReply>("POST /orders/", { body: { items, note: "Canary note" } })).data;
    for (const one of [order, ofCustomer]) await finish(shop, one);
    await actOn(shop, late, "pay");
    await finish(other.shop, foreign);
    const { year, goTo } = calendarOf(shop);
    const keptUntil = Date.UTC(year(3), 0);
    goTo(Date.UTC(year(1), 0));
    await actOn(shop, late, "fulfill");
    goTo(keptUntil - 1);
    await purge(shop);
    for (const { id } of [order, ofCustomer]) expect((await read(id)).note).toBe("Canary note");
    goTo(keptUntil);
    await purge(shop);
    expect(await read(order.id)).toMatchObject({ ...noPerson, number: order.number, received_minor: 1000 });
    expect(await read(ofCustomer.id)).toMatchObject({ ...noPerson, user_id: own.id });
    expect(await read(late.id)).toMatchObject({ note: "Canary note" });
    expect(await other.read(foreign.id)).toMatchObject({ note: "Canary note" });
  });

  test("a withdrawal from an order that does not exist is deleted after a year", async () => {
    const { shop, place, withdraw } = await open(suite);
    const order = await place();
    for (const number of [order.number, 77]) await withdraw(number);
    shop.app.clock.advance(365 * day);
    await purgeWithdrawals({ db: shop.app.db, now: shop.app.clock.now });
    const { rows } = await shop.app.db.execute({
      sql: "select number from withdrawals where tenant_id = (select id from tenants where namespace = ?)",
      args: [shop.namespace],
    });
    expect(rows).toEqual([{ number: order.number }] as never);
  });
});

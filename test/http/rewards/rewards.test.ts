import { expect, test } from "bun:test";
import { deleteTenant } from "../../../src/server/modules/tenants/service.ts";
import { openAccount } from "../../support/account.ts";
import type { Call } from "../../support/client.ts";
import { actOn, makeOrder } from "../../support/orders.ts";
import { readPages } from "../../support/read-pages.ts";
import { checkAccount, type EntryReply, givePoints, type RewardsReply } from "../../support/rewards.ts";
import { onEachDatabase } from "../../support/suite.ts";

onEachDatabase((suite) => {
  const { onFile } = suite;
  async function openShop(settings: { points_rate?: number; points_days?: number } = {}) {
    const shop = await suite.shop();
    for (const [column, value] of Object.entries(settings)) {
      const sql = `update tenants set ${column} = ? where namespace = ?`;
      await suite.app.db.execute({ sql, args: [value, shop.namespace] });
    }
    const customer = await openAccount(shop);
    const as = { user_id: customer.id, token: customer.token };
    const own = <T>(request: string, more: { query?: Record<string, string>; body?: object } = {}) =>
      shop.callAnonymously<T>(request, { ...more, query: { ...more.query, ...as } });
    const account = async () => (await own<RewardsReply>("GET /rewards/")).data;
    return { shop, customer, own, account };
  }

  onFile("a new account has no points, and a balance shows its value in money", async () => {
    const { shop, customer, own, account } = await openShop();
    expect(await account()).toEqual({
      user_id: customer.id,
      balance: 0,
      value: 0,
      value_minor: 0,
      currency: "EUR",
      expiring: null,
      version: 0,
      updated_at: null,
    });
    await givePoints(shop, customer.id, 250);
    const { data, headers } = await own<RewardsReply>("GET /rewards/");
    expect(data).toMatchObject({ balance: 250, value: 2.5, value_minor: 250, version: 1 });
    expect(headers.get("etag")).toBe('"1"');
  });

  onFile("a redemption spends points only once for each source, and never more than the balance", async () => {
    const { shop, customer, own, account } = await openShop();
    await givePoints(shop, customer.id, 100);
    const body = { points: 60, source: "coupon-1", note: "A coupon" };
    const first = await own<EntryReply>("POST /rewards/redeem/", { body });
    expect(first.status).toBe(201);
    expect(first.data).toMatchObject({
      kind: "redeem",
      points: -60,
      balance: 40,
      source: "coupon-1",
      note: "A coupon",
    });
    const again = await own<EntryReply>("POST /rewards/redeem/", { body });
    expect(again.status).toBe(200);
    expect(again.data).toEqual(first.data);
    const other = await own("POST /rewards/redeem/", { body: { ...body, points: 30 } });
    expect([other.status, other.error?.code]).toEqual([409, 5302]);
    const poor = await own("POST /rewards/redeem/", { body: { points: 41 } });
    expect([poor.status, poor.error?.code]).toEqual([409, 5305]);
    expect((await account()).balance).toBe(40);
    expect(await checkAccount(shop, customer.id)).toBe(40);
  });

  onFile("the source of a caller cannot collide with the sources that Bodega itself uses", async () => {
    const { shop, customer, own, account } = await openShop();
    await givePoints(shop, customer.id, 10);
    const { id } = await shop.createProduct({ price: 50, stock: 1 });
    const order = await makeOrder(shop, [{ product_id: id }], { customer_id: customer.id });
    await own("POST /rewards/redeem/", { body: { points: 1, source: `order:${order.id}:earn` } });
    await actOn(shop, order, "pay");
    expect((await account()).balance).toBe(59);
  });

  onFile("customers and the store can each use the same source of points once", async () => {
    const { shop, customer, own } = await openShop();
    await givePoints(shop, customer.id, 100);
    const body = { points: 10, source: "voucher-1" };
    const mine = await own<EntryReply>("POST /rewards/redeem/", { body });
    const debit = { body: { ...body, customer_id: customer.id } };
    const theirs = await shop.call<EntryReply>("POST /rewards/redeem/", debit);
    expect([mine.status, theirs.status, theirs.data.source]).toEqual([201, 201, "voucher-1"]);
    expect(await checkAccount(shop, customer.id)).toBe(80);
    expect([
      (await own("POST /rewards/redeem/", { body })).status,
      (await shop.call("POST /rewards/redeem/", debit)).status,
    ]).toEqual([200, 200]);
    expect(await checkAccount(shop, customer.id)).toBe(80);
    await own("POST /rewards/redeem/", { body: { points: 1, source: "voucher-2" } });
    const adjust = { points: -5, source: "voucher-2", note: "Taken back", customer_id: customer.id };
    expect((await shop.call("POST /rewards/adjust/", { body: adjust })).status).toBe(201);
    expect(await checkAccount(shop, customer.id)).toBe(74);
  });

  onFile("staff and app keys can adjust points, but not below zero; customers cannot adjust points", async () => {
    const { shop, customer, own } = await openShop();
    const staff = await openAccount(shop, { role: "staff" });
    const by = { user_id: staff.id, token: staff.token };
    const body = { customer_id: customer.id, points: 7, note: "Sorry" };
    const given = await shop.callAnonymously("POST /rewards/adjust/", { query: by, body });
    expect(given.status).toBe(201);
    const unnamed = await shop.callAnonymously("POST /rewards/adjust/", { query: by, body: { points: 7, note: "Me" } });
    expect(unnamed.fields).toEqual(["customer_id"]);
    const owner = await openAccount(shop, { role: "owner" });
    for (const customer_id of [staff.id, owner.id]) {
      const body = { points: 7, note: "Friends", customer_id };
      expect((await shop.callAnonymously("POST /rewards/adjust/", { query: by, body })).code).toBe(5300);
    }
    for (const customer_id of [owner.id, undefined]) {
      const reply = await owner.call("POST /rewards/adjust/", { body: { points: 7, note: "Me", customer_id } });
      expect([reply.code, reply.fields]).toEqual(customer_id ? [5300, []] : [5102, ["customer_id"]]);
    }
    expect(await checkAccount(shop, owner.id)).toBeNull();
    expect((await owner.call("POST /rewards/adjust/", { body: { ...body, points: 1 } })).status).toBe(201);
    expect((await shop.call("POST /rewards/adjust/", { body: { ...body, points: -1 } })).status).toBe(201);
    const refused = await own("POST /rewards/adjust/", { body: { points: 7, note: "Sorry" } });
    expect([refused.status, refused.error?.code]).toEqual([403, 5300]);
    const below = await shop.call("POST /rewards/adjust/", { body: { ...body, points: -8 } });
    expect([below.status, below.error?.code]).toEqual([409, 5305]);
    const none = await shop.call("POST /rewards/adjust/", { body: { ...body, points: 0 } });
    expect(none.error?.details?.[0]?.field).toBe("points");
    const taken = await shop.call<EntryReply>("POST /rewards/adjust/", { body: { ...body, points: -7 } });
    expect(taken.data).toMatchObject({ kind: "adjust", points: -7, balance: 0 });
  });

  onFile("app keys and staff must name an existing customer", async () => {
    const { shop, customer } = await openShop();
    const foreign = await openAccount(await suite.shop());
    const nobody = await shop.call("GET /rewards/");
    expect([nobody.status, nobody.error?.details?.[0]?.field]).toEqual([422, "user_id"]);
    expect((await shop.call<RewardsReply>("GET /rewards/", { query: { user_id: customer.id } })).data.user_id).toBe(
      customer.id,
    );
    for (const path of ["/rewards/", "/rewards/history/"]) {
      for (const id of [foreign.id, "usr_nonsense"]) {
        const reply = await shop.call(`GET ${path}`, { query: { customer_id: id } });
        expect([reply.status, reply.error?.code]).toEqual([404, 5301]);
      }
    }
  });

  onFile("the history of points can be paged, filtered and counted", async () => {
    const { shop, customer, own } = await openShop();
    for (let points = 1; points <= 5; points++) await givePoints(shop, customer.id, points);
    await own("POST /rewards/redeem/", { body: { points: 2 } });
    const query = { limit: 2, include_total: "true" };
    const seen = await readPages<EntryReply>(own as Call, "GET /rewards/history/", query, (_, { page }) =>
      expect(page.total).toBe(6),
    );
    expect(seen.map(({ points }) => points)).toEqual([-2, 5, 4, 3, 2, 1]);
    const { data } = await own<EntryReply[]>("GET /rewards/history/", { query: { kind: "redeem", fields: "points" } });
    expect(data.map(({ points }) => points)).toEqual([-2]);
    const late = await own<EntryReply[]>("GET /rewards/history/", { query: { "created_at[gt]": "2100-01-01" } });
    expect(late.data).toEqual([]);
  });

  test("fifty concurrent redemptions with one source create one entry", async () => {
    const { shop, customer, own } = await openShop();
    await givePoints(shop, customer.id, 100);
    const body = { points: 10, source: "once" };
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => own<EntryReply>("POST /rewards/redeem/", { body })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(new Set(replies.map(({ data }) => data.id)).size).toBe(1);
    expect(await checkAccount(shop, customer.id)).toBe(90);
  });

  onFile("the ledger of points cannot be changed, outlives its user, and is deleted with its store", async () => {
    const { shop, customer } = await openShop();
    await givePoints(shop, customer.id, 100);
    const change = (sql: string) =>
      suite.app.db.execute({ sql, args: [customer.id] }).then(
        () => "done",
        (error: Error) => error.message,
      );
    expect(await change("update reward_entries set points = 1 where user_id = ?")).toContain("append-only");
    expect(await change("delete from reward_entries where user_id = ?")).toContain("append-only");
    await shop.call(`DELETE /users/${customer.id}/`);
    expect(await checkAccount(shop, customer.id)).toBe(100);
    await deleteTenant(suite.app.system, shop.namespace);
    const { rows } = await suite.app.db.execute({
      sql: "select count(*) as n from reward_entries where user_id = ?",
      args: [customer.id],
    });
    expect(rows[0]?.n).toBe(0);
  });
});

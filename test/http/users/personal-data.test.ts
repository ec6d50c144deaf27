import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { FileDatabase } from "../../../src/server/db/local/file-database.ts";
import { verifyAudit } from "../../../src/server/modules/audit/verify.ts";
import { listMail } from "../../../src/server/modules/mail/service.ts";
import { goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import { newAddress } from "../../support/client.ts";
import type { Shop } from "../../support/factories.ts";
import { registerWith } from "../../support/registrations.ts";
import { type ApiScenario, runScenarios, scenariosOf } from "../../support/scenarios.ts";
import { deliverMail } from "../../support/sign-up.ts";
import { onDatabase } from "../../support/suite.ts";
import { readUsers } from "../../support/users.ts";

const exported = "GET /users/me/export/";
const erase = "POST /users/me/erase/";
const password = goodPassword;

const asUser = async (shop: Shop, body?: object) => {
  const { id, token } = await openAccount(shop);
  return { auth: null, query: { user_id: id, token }, ...(body && { body }) };
};
const scenarios: ApiScenario[] = [
  ...scenariosOf(erase, [
    ["erasing without a password gets 5102", (shop) => asUser(shop, {}), 5102, "password"],
    [
      "erasing with a wrong password gets 5212",
      (shop) => asUser(shop, { password: otherPassword }),
      5212,
      { lacks: [otherPassword] },
    ],
  ]),
];

onDatabase("file", (suite) => {
  const { test } = suite;
  runScenarios(suite, scenarios);

  const address = { line1: "Canary Street 7", city: "Canarytown", name: "Canary Person", country: "PT" };
  const ip = "198.51.100.77";

  /** Creates a person with all kinds of personal data, and one completed order. */
  async function openPerson(shop: Shop, email = "canary.person@example.com") {
    const own = await openAccount(shop, { email });
    const { id: product_id } = await shop.createProduct({ stock: 10 });
    await own.call("PATCH /users/me/", {
      body: { name: "Canary Person", phone: "+351 999", addresses: [address] },
      address: ip,
    });
    await shop.call("POST /discounts/", { body: { code: "CANARY", percent: 10 } });
    const order = await own.call<{ id: string; number: number; total: number }>("POST /orders/", {
      body: {
        ...{ items: [{ product_id, quantity: 2 }], discount_code: "CANARY", note: "Canary note", phone: "+351 999" },
        ...{ shipping_address: address, billing_address: address, metadata: { gift: "Canary gift" } },
      },
      address: ip,
    });
    const { id, number } = order.data;
    await shop.call(`PATCH /orders/${id}/`, { body: { staff_note: "Canary staff" } });
    await shop.call("POST /orders/withdrawals/", {
      body: { number, email, name: "Canary Person", text: "Canary text" },
    });
    const resolved = { kind: "withdrawal", action: "accept", note: "Canary attention" };
    expect((await shop.call(`POST /orders/${id}/attention/`, { body: resolved })).status).toBe(200);
    for (const step of ["pay", "fulfill"])
      await shop.call(`POST /orders/${id}/${step}/`, { body: step === "pay" ? {} : undefined });
    const refunded = await shop.call(`POST /orders/${id}/refund/`, { body: { amount: 1, reason: "Canary reason" } });
    expect(refunded.status).toBe(200);
    await shop.call("POST /rewards/adjust/", { body: { points: 5, note: "Canary points", customer_id: own.id } });
    await own.call("POST /wishlist/", { body: { product_id, note: "Canary wish" } });
    await own.call("POST /likes/", { body: { resource_type: "product", resource_id: product_id } });
    await registerWith(own.call);
    await shop.callAnonymously("POST /auth/login/", { body: { email, password: "wrong" }, address: ip });
    await shop.callAnonymously("POST /auth/password/forgot/", { body: { email } });
    await own.call("PATCH /users/me/", { body: { email: "canary.other@example.com", password }, address: ip });
    return { own, order: order.data };
  }

  /** Returns all rows of the store, and of tables without stores, as text. */
  async function dump(shop: Shop): Promise<string> {
    const { db } = suite.app;
    const { rows: tables } = await db.execute(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like 'product_search%'",
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const columns = (await db.execute(`select name from pragma_table_info('${name}')`)).rows.map((row) => row.name);
      const tenantId = "(select id from tenants where namespace = ?1)";
      const ofStore: Record<string, string> = {
        tenant_id: `tenant_id = ${tenantId}`,
        namespace: "namespace = ?1",
        key: `instr(key, ${tenantId}) > 0`,
      };
      const where = Object.keys(ofStore).find((column) => columns.includes(column));
      const condition = where === undefined ? "?1 <> ''" : ofStore[where];
      const { rows } = await db.execute({ sql: `select * from ${name} where ${condition}`, args: [shop.namespace] });
      texts.push(...rows.map((row) => `${name} ${JSON.stringify(Object.values(row))}`));
    }
    return texts.join("\n");
  }

  test("an export contains all stored data of the person, without secrets and without other people's data", async (shop) => {
    const { own, order } = await openPerson(shop);
    const other = await openPerson(shop, "somebody.else@example.com");
    const { data, text } = await own.call<Record<string, object[]>>(exported);
    expect(data.user).toMatchObject({
      email: "canary.person@example.com",
      name: "Canary Person",
      addresses: [address],
    });
    expect(data.orders).toMatchObject([{ id: order.id, note: "Canary note", shipping_address: address }]);
    expect(data.withdrawals).toMatchObject([{ number: order.number, name: "Canary Person", text: "Canary text" }]);
    expect(data.rewards).toContainEqual(expect.objectContaining({ note: "Canary points" }));
    expect(data.wishlist).toMatchObject([{ note: "Canary wish" }]);
    expect(data.reactions).toMatchObject([{ kind: "like" }]);
    expect(data.devices).toHaveLength(1);
    expect(data.sessions).toMatchObject([{ ended_at: null }]);
    const kinds = ["order_placed", "withdrawal_received", "order_paid", "order_shipped", "order_refunded"];
    kinds.push("reset_code", "email_change_requested");
    expect(data.mail).toMatchObject(kinds.map((kind) => ({ kind, status: "waiting" })));
    expect(data.audit).toContainEqual(expect.objectContaining({ event: "login.failed", address: ip, subject: own.id }));
    for (const secret of ["argon2", own.token, other.own.id, other.order.id, "somebody.else"])
      expect(text).not.toContain(secret);
  });

  test("after an erasure, only the addresses of a paid order name the person; the order keeps number and amounts, and the audit log is intact", async (shop) => {
    const { own, order } = await openPerson(shop);
    const kept = await openPerson(shop, "kept.person@example.com");
    const before = (await kept.own.call<{ orders: unknown }>(exported)).data.orders;
    expect(await dump(shop)).toContain("Canary");
    expect((await own.call(erase, { body: { password }, address: ip })).data).toEqual({ erased: true });
    const rows = (await dump(shop)).split("\n");
    // Searches only rows about the erased person or about nobody, because the other person has the same texts.
    const others = rows.filter((row) => !row.includes(kept.own.id) && !row.includes(kept.order.id));
    const invoiced = JSON.stringify(JSON.stringify(address));
    for (const trace of ["canary.person", "canary.other", "Canary", "+351 999", ip]) {
      expect(others.filter((row) => row.replaceAll(invoiced, "").includes(trace))).toEqual([]);
    }
    expect(others.filter((row) => row.includes(invoiced))).toEqual([expect.stringContaining(`orders ["${order.id}"`)]);
    const tables = new Set(rows.filter((row) => row.includes(own.id)).map((row) => row.split(" ")[0]));
    expect([...tables].toSorted()).toEqual(
      `audit_log discount_uses events reward_balances reward_entries reward_lots user_tokens`.split(/\s+/),
    );
    expect(await readUsers(shop)).toMatchObject([{ id: kept.own.id }]);
    expect((await shop.call<Record<string, unknown>>(`GET /orders/${order.id}/`)).data).toMatchObject({
      number: order.number,
      total: order.total,
      user_id: null,
      ...{ email: null, phone: null, shipping_address: address, billing_address: address },
      ...{ note: null, staff_note: null, metadata: {} },
    });
    expect((await kept.own.call<{ orders: unknown }>(exported)).data.orders).toEqual(before);
    expect(await verifyAudit(suite.app.system)).toMatchObject({ intact: true });
    expect((await own.call("GET /users/me/")).code).toBe(5207);
    const mails = (await deliverMail(shop)).map(({ to }) => to);
    expect(mails).not.toContain("canary.person@example.com");
  });

  test("staff can export and erase only customers", async (shop) => {
    const { own, order } = await openPerson(shop);
    const [staff, owner] = [await openAccount(shop, { role: "staff" }), await openAccount(shop, { role: "owner" })];
    const { data } = await staff.call<Record<string, object[]>>(`GET /users/${own.id}/export/`);
    expect(data).toMatchObject({ user: { id: own.id }, orders: [{ id: order.id }] });
    for (const [by, id] of [
      [own, staff.id],
      [own, own.id],
      [staff, owner.id],
      [staff, staff.id],
      [owner, owner.id],
    ] as const)
      expect((await by.call(`POST /users/${id}/erase/`)).code).toBe(5300);
    for (const [by, id] of [
      [own, own.id],
      [staff, owner.id],
    ] as const)
      expect((await by.call(`GET /users/${id}/export/`)).code).toBe(5300);
    expect((await staff.call(`POST /users/${own.id}/erase/`)).data).toEqual({ erased: true });
    expect((await shop.call(`GET /users/${own.id}/`)).code).toBe(5301);
    expect((await owner.call(`POST /users/${staff.id}/erase/`)).data).toEqual({ erased: true });
  });

  test("an export lists, and an erasure deletes, only mail to the person, including sent mail", async (shop) => {
    const [own, other] = [await openAccount(shop), await openAccount(shop)];
    for (const { email } of [own, other])
      await shop.callAnonymously("POST /auth/password/forgot/", { body: { email: email.toUpperCase() } });
    expect(await deliverMail(shop)).toHaveLength(2);
    const mail = async (of: typeof own) => (await of.call<{ mail: object[] }>(exported)).data.mail;
    expect(await mail(own)).toMatchObject([{ kind: "reset_code", status: "sent", sent_at: expect.any(String) }]);
    const listed = async (to?: string) =>
      (await listMail(suite.app.system, { namespace: shop.namespace, to, limit: 9 })).length;
    expect(await listed(own.email)).toBe(1);
    await own.call(erase, { body: { password } });
    expect([await listed(own.email), await listed(other.email), await listed()]).toEqual([0, 1, 2]);
    expect(await mail(other)).toHaveLength(1);
  });

  test("a user can export ten times an hour, and an export does not list earlier exports", async (shop) => {
    const [own, other] = [await openAccount(shop), await openAccount(shop)];
    const events = async () => {
      const { data, status } = await own.call<{ audit: { event: string }[] }>(exported);
      expect(status).toBe(200);
      return data.audit.map(({ event }) => event);
    };
    const first = await events();
    for (let n = 2; n <= 10; n++) expect(await events()).toEqual(first);
    const refused = await own.call(exported);
    expect([refused.code, Number(refused.headers.get("retry-after"))]).toEqual([5107, 3600]);
    expect((await other.call(exported)).status).toBe(200);
    suite.app.clock.advance(3_600_000);
    expect(await events()).toEqual(first);
  });

  test("an erasure keeps the IP addresses of audit entries that name nobody", async (shop) => {
    const own = await openAccount(shop);
    const address = newAddress();
    await shop.callAnonymously("POST /auth/password/forgot/", { body: { email: own.email }, address });
    await own.call("PATCH /users/me/", { body: { name: "Ada" }, address });
    await own.call(erase, { body: { password }, address });
    const sql = "select event from audit_log where namespace = ? and address = ?";
    const { rows } = await suite.app.db.execute({ sql, args: [shop.namespace, address] });
    expect(rows.map(({ event }) => event)).toEqual(["password.reset_requested"]);
  });

  test("the free space of the database file contains no data of an erased person", async (shop) => {
    const email = "vanishing.person@example.com";
    const { own } = await openPerson(shop, email);
    const db = suite.app.db as FileDatabase;
    const read = async () => {
      while (!(await db.checkpoint())) await Bun.sleep(10);
      return readFileSync(db.path);
    };
    expect((await read()).includes(email)).toBe(true);
    await own.call(erase, { body: { password } });
    expect((await read()).includes(email)).toBe(false);
  });

  test("an erasure is refused while an order is not completed or cancelled, and nothing changes", async (shop) => {
    const own = await openAccount(shop);
    const { id: product_id } = await shop.createProduct({ stock: 10 });
    const { data } = await own.call("POST /orders/", { body: { items: [{ product_id, quantity: 1 }] } });
    const refused = await own.call(erase, { body: { password } });
    expect([refused.code, refused.text]).toEqual([5306, expect.stringContaining("Order 1")]);
    expect((await own.call("GET /users/me/")).status).toBe(200);
    await own.call(`POST /orders/${data.id}/cancel/`);
    expect((await own.call(erase, { body: { password } })).status).toBe(200);
  });

  test("with two-factor, an erasure needs a valid code", async (shop) => {
    const own = await openAccount(shop);
    await own.enrol();
    expect((await own.call(erase, { body: { password } })).code).toBe(5211);
    expect((await own.call(erase, { body: { password, otp: await own.wrongCode() } })).code).toBe(5212);
    expect((await own.call(erase, { body: { password, otp: await own.code() } })).status).toBe(200);
  });

  test("the last active owner cannot be erased", async (shop) => {
    const [owner, second] = [await openAccount(shop, { role: "owner" }), await openAccount(shop, { role: "owner" })];
    expect((await second.call(erase, { body: { password } })).status).toBe(200);
    expect((await owner.call(erase, { body: { password } })).code).toBe(5306);
    expect(await readUsers(shop)).toMatchObject([{ id: owner.id }]);
  });
});

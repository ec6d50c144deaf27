import { expect, test } from "bun:test";
import { type Account, openAccount } from "../../support/account.ts";
import { createClient, newAddress } from "../../support/client.ts";
import { bearer, type Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";
import { makeUser, readUsers } from "../../support/users.ts";

/** Each endpoint, the scope that it requires, and a body that it accepts. */
const endpoints = [
  { request: "GET /users/", scope: "users:read", send: {}, done: 200 },
  { request: "GET /users/:id/", scope: "users:read", send: {}, done: 200 },
  { request: "POST /users/", scope: "users:write", send: { body: { email: "new@example.com" } }, done: 201 },
  { request: "PATCH /users/:id/", scope: "users:write", send: { body: { name: "Eve" } }, done: 200 },
  { request: "DELETE /users/:id/", scope: "users:write", send: {}, done: 200 },
] as const;
const otherScope = { "users:read": "users:write", "users:write": "users:read" } as const;
const own = [
  { request: "GET /users/me/", send: {} },
  { request: "PATCH /users/me/", send: { body: { name: "Eve" } } },
] as const;
const roles = ["customer", "staff", "owner"] as const;

const contents = async (shop: Shop) => JSON.stringify(await readUsers(shop));

onDatabase("file", (suite) => {
  for (const { request, scope, send, done } of endpoints) {
    test(`${request} works with only ${scope}, and for staff`, async () => {
      const shop = await suite.shop();
      const auth = bearer(await shop.issueKey({ scopes: [scope] }));
      const { id } = await makeUser(shop);
      expect((await shop.call(request.replace(":id", id), { ...send, auth })).status).toBe(done);
      const another = await suite.shop();
      const staff = await openAccount(another, { role: "staff" });
      const target = await makeUser(another);
      expect((await staff.call(request.replace(":id", target.id), send)).status).toBe(done);
    });

    test(`${request} without credentials is 5206, and changes nothing`, async () => {
      const shop = await suite.shop();
      const { id } = await makeUser(shop, { email: "ada@example.com" });
      const before = await contents(shop);
      const { code, text } = await shop.callAnonymously(request.replace(":id", id), send);
      expect(code).toBe(5206);
      expect(text).not.toContain("ada@");
      expect(await contents(shop)).toBe(before);
    });

    test(`${request} with a key that lacks ${scope} is 5300, and changes nothing`, async () => {
      const shop = await suite.shop();
      const { id } = await makeUser(shop, { email: "ada@example.com" });
      const before = await contents(shop);
      const auth = bearer(await shop.issueKey({ scopes: [otherScope[scope], "products:read", "products:write"] }));
      const { code, text } = await shop.call(request.replace(":id", id), { ...send, auth });
      expect(code).toBe(5300);
      expect(text).toContain(scope);
      expect(text).not.toContain("ada@");
      expect(await contents(shop)).toBe(before);
    });

    test(`${request} with a customer's token is 5300, for any user, even themselves`, async () => {
      const shop = await suite.shop();
      const customer = await openAccount(shop);
      const { id } = await makeUser(shop);
      const before = await contents(shop);
      for (const path of [id, customer.id, "usr_01h455vb4pex5vsknk084sn02q", "x"]) {
        const { code, text } = await customer.call(request.replace(":id", path), send);
        expect(code).toBe(5300);
        expect(text).not.toContain("@");
      }
      expect(await contents(shop)).toBe(before);
    });

    test(`${request} with another store's key is 5203, with its staff's token 5205, and changes nothing`, async () => {
      const [shop, other] = [await suite.shop(), await suite.shop()];
      const { id } = await makeUser(shop);
      const owner = await openAccount(other, { role: "owner" });
      const before = await contents(shop);
      const call = createClient(suite.app, { namespace: shop.namespace });
      const path = request.replace(":id", id);
      expect((await call(path, { ...send, auth: other.auth })).code).toBe(5203);
      const query = { user_id: owner.id, token: owner.token };
      expect((await call(path, { ...send, query, address: newAddress() })).code).toBe(5205);
      expect(await contents(shop)).toBe(before);
    });

    if (request.includes(":id")) {
      test(`${request} of another store's user is 5301 in one's own store, and changes nothing`, async () => {
        const [shop, other] = [await suite.shop(), await suite.shop()];
        const { id } = await makeUser(shop);
        const owner = await openAccount(other, { role: "owner" });
        const before = await contents(shop);
        for (const headers of [{}, { "if-match": '"1"' }] as Record<string, string>[]) {
          expect((await other.call(request.replace(":id", id), { ...send, headers })).code).toBe(5301);
          expect((await owner.call(request.replace(":id", id), { ...send, headers })).code).toBe(5301);
        }
        expect(await contents(shop)).toBe(before);
      });

      test(`${request} of an invalid id is 5301`, async () => {
        const { call } = await suite.shop();
        for (const id of [
          "x",
          "1",
          "usr_",
          "usr_01h455vb4pex5vsknk084sn02q",
          "prod_01h455vb4pex5vsknk084sn02q",
          "%00",
        ]) {
          expect([id, (await call(request.replace(":id", id), send)).code]).toEqual([id, 5301]);
        }
      });
    }
  }

  for (const { request, send } of own) {
    test(`${request} works for every role, and returns the caller`, async () => {
      const shop = await suite.shop();
      for (const role of roles) {
        const account = await openAccount(shop, { role });
        const { status, data } = await account.call<{ id: string; role: string }>(request, send);
        expect({ status, id: data.id, role: data.role }).toEqual({ status: 200, id: account.id, role });
      }
    });

    test(`${request} without credentials is 5206, with an app key 5300, with any user_id`, async () => {
      const shop = await suite.shop();
      const { id } = await makeUser(shop);
      expect((await shop.callAnonymously(request, { ...send, address: newAddress() })).code).toBe(5206);
      expect((await shop.call(request, send)).code).toBe(5300);
      expect((await shop.call(request, { ...send, query: { user_id: id } })).code).toBe(5300);
    });
  }

  // The roles that each actor (a role, or a key) may manage.
  const managers = {
    customer: [],
    staff: ["customer"],
    owner: roles,
    "a key with users:write": ["customer"],
    "a key with *": roles,
  } as const satisfies Record<string, readonly string[]>;
  type Manager = keyof typeof managers;

  async function callerOf(shop: Shop, manager: Manager): Promise<Account["call"]> {
    if (manager === "a key with *") return (request, send) => shop.call(request, send);
    if (manager === "a key with users:write") {
      const auth = bearer(await shop.issueKey({ scopes: ["users:read", "users:write"] }));
      return (request, send) => shop.call(request, { ...send, auth });
    }
    return (await openAccount(shop, { role: manager })).call;
  }

  for (const manager of Object.keys(managers) as Manager[]) {
    const manageable: readonly string[] = managers[manager];
    test(`${manager} manages ${manageable.join(", ") || "nobody"}, and nobody else`, async () => {
      const shop = await suite.shop();
      // Another owner, so that the rule about the last one does not apply.
      await openAccount(shop, { role: "owner" });
      const call = await callerOf(shop, manager);
      for (const role of roles) {
        const may = manageable.includes(role);
        const target = await makeUser(shop, { role });
        const customer = await makeUser(shop);
        const outcomes = [
          await call("POST /users/", { body: { email: `${role}-made@example.com`, role } }),
          await call(`PATCH /users/${customer.id}/`, { body: { role } }),
          await call(`PATCH /users/${target.id}/`, { body: { name: "Eve" } }),
          await call(`PATCH /users/${target.id}/`, { body: { email: `${role}-moved@example.com` } }),
          await call(`PATCH /users/${target.id}/`, { body: { status: "disabled" } }),
          await call(`DELETE /users/${target.id}/`),
        ].map(({ code }) => code ?? 200);
        expect({ role, outcomes }).toEqual({ role, outcomes: Array(6).fill(may ? 200 : 5300) });
        const left = (await readUsers(shop)).find(({ id }) => id === target.id);
        if (may) expect(left).toBeUndefined();
        else expect(left).toEqual(target);
      }
    });
  }

  test("users cannot change their own role or status, or delete themselves, through user management", async () => {
    const shop = await suite.shop();
    await openAccount(shop, { role: "owner" });
    const owner = await openAccount(shop, { role: "owner" });
    for (const body of [{ role: "customer" }, { role: "owner" }, { status: "disabled" }, { status: "active" }]) {
      expect((await owner.call(`PATCH /users/${owner.id}/`, { body })).code).toBe(5300);
    }
    expect((await owner.call(`DELETE /users/${owner.id}/`)).code).toBe(5300);
    expect((await owner.call(`PATCH /users/${owner.id}/`, { body: { name: "Ada" } })).status).toBe(200);
    const { data } = await owner.call("GET /users/me/");
    expect(data).toMatchObject({ role: "owner", status: "active", name: "Ada" });
  });

  test("a role counts from the next request on, in both directions", async () => {
    const shop = await suite.shop();
    const account = await openAccount(shop);
    expect((await account.call("GET /users/")).code).toBe(5300);
    await shop.call(`PATCH /users/${account.id}/`, { body: { role: "staff" } });
    expect((await account.call("GET /users/")).status).toBe(200);
    await shop.call(`PATCH /users/${account.id}/`, { body: { role: "customer" } });
    expect((await account.call("GET /users/")).code).toBe(5300);
  });

  test("disabling or deleting a user ends their sessions for good", async () => {
    const shop = await suite.shop();
    const [disabled, removed] = [await openAccount(shop), await openAccount(shop)];
    await shop.call(`PATCH /users/${disabled.id}/`, { body: { status: "disabled" } });
    await shop.call(`DELETE /users/${removed.id}/`);
    for (const { call } of [disabled, removed]) expect((await call("GET /users/me/")).code).toBe(5207);
    await shop.call(`PATCH /users/${disabled.id}/`, { body: { status: "active" } });
    expect((await disabled.call("GET /users/me/")).code).toBe(5207);
  });
});

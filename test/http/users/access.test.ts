import { expect } from "bun:test";
import { type Account, openAccount } from "../../support/account.ts";
import { bearer, type Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";
import { makeUser, readUsers } from "../../support/users.ts";

const roles = ["customer", "staff", "owner"] as const;

onDatabase("file", (suite) => {
  const { test } = suite;
  // The roles that each actor may manage. An actor is a role or a key.
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
    test(`${manager} manages ${manageable.join(", ") || "nobody"}, and nobody else`, async (shop) => {
      // Adds another owner, because the last owner cannot be changed.
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

  test("users cannot change their own role or status, or delete themselves, through user management", async (shop) => {
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

  test("a new role, higher or lower, applies to the next request", async (shop) => {
    const account = await openAccount(shop);
    expect((await account.call("GET /users/")).code).toBe(5300);
    await shop.call(`PATCH /users/${account.id}/`, { body: { role: "staff" } });
    expect((await account.call("GET /users/")).status).toBe(200);
    await shop.call(`PATCH /users/${account.id}/`, { body: { role: "customer" } });
    expect((await account.call("GET /users/")).code).toBe(5300);
  });

  test("disabling or deleting a user ends their sessions permanently", async (shop) => {
    const [disabled, removed] = [await openAccount(shop), await openAccount(shop)];
    await shop.call(`PATCH /users/${disabled.id}/`, { body: { status: "disabled" } });
    await shop.call(`DELETE /users/${removed.id}/`);
    for (const { call } of [disabled, removed]) expect((await call("GET /users/me/")).code).toBe(5207);
    await shop.call(`PATCH /users/${disabled.id}/`, { body: { status: "active" } });
    expect((await disabled.call("GET /users/me/")).code).toBe(5207);
  });
});

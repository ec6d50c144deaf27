import { expect } from "bun:test";
import { goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import type { Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";
import { makeUser, type UserReply } from "../../support/users.ts";

interface UserEvent {
  type: string;
  subject: string;
  data: Record<string, unknown>;
}

/** Reads the events about a shop's users, oldest first. */
async function readUserEvents({ app, namespace }: Shop): Promise<UserEvent[]> {
  const sql = `select type, subject, data from events where type like 'user.%'
    and tenant_id = (select id from tenants where namespace = ?) order by sequence`;
  const { rows } = await app.db.execute({ sql, args: [namespace] });
  return rows.map((row) => ({
    type: String(row.type),
    subject: String(row.subject),
    data: JSON.parse(String(row.data)),
  }));
}

onDatabase("file", (suite) => {
  const { test } = suite;
  test("each change of a user records an event with version, role and status, and no personal data", async (shop) => {
    const { id, email } = await makeUser(shop, { name: "Ada Personal", phone: "+351 1234" });
    const path = `/users/${id}/`;
    for (const body of [
      { email: "another-personal@example.com" },
      { email_verified: true },
      { role: "staff" },
      { status: "disabled" },
      { status: "active", metadata: { personal: 1 } },
      {},
    ]) {
      expect((await shop.call<UserReply>(`PATCH ${path}`, { body })).status).toBe(200);
    }
    expect((await shop.call(`DELETE ${path}`)).status).toBe(200);
    const events = await readUserEvents(shop);
    expect(new Set(events.map(({ subject }) => subject))).toEqual(new Set([id]));
    expect(events.map(({ type, data }) => [type, data.version, data.role, data.status])).toEqual([
      ["user.created", 1, "customer", "active"],
      ["user.updated", 2, "customer", "active"],
      ["user.updated", 3, "customer", "active"],
      ["user.updated", 4, "staff", "active"],
      ["user.updated", 5, "staff", "disabled"],
      ["user.updated", 6, "staff", "active"],
      ["user.updated", 7, "staff", "active"],
      ["user.deleted", 7, "staff", "active"],
    ]);
    for (const { data } of events) expect(Object.keys(data).toSorted()).toEqual(["role", "status", "version"]);
    const text = JSON.stringify(events);
    for (const personal of [email, "personal", "Ada", "351"]) expect(text).not.toContain(personal);
  });

  test("changes that users make to their own record are recorded as events, and refused changes are not", async (shop) => {
    const { id, call } = await openAccount(shop);
    const body = { email: "moved-himself@example.com", password: goodPassword };
    expect((await call("PATCH /users/me/", { body: { name: "Ada" } })).status).toBe(200);
    expect((await call("PATCH /users/me/", { body })).status).toBe(200);
    expect((await call("PATCH /users/me/", { body: { ...body, password: otherPassword } })).code).toBe(5212);
    expect((await call("PATCH /users/me/", { body: { name: "Eve" }, headers: { "if-match": '"1"' } })).code).toBe(5303);
    const events = await readUserEvents(shop);
    expect(events.map(({ type, subject, data }) => [type, subject, data.version])).toEqual([
      ["user.created", id, 1],
      ["user.updated", id, 2],
      ["user.updated", id, 3],
    ]);
  });
});

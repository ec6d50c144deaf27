import { expect } from "bun:test";
import { type Account, openAccount } from "../../support/account.ts";
import type { Shop } from "../../support/factories.ts";
import { deliverMail } from "../../support/sign-up.ts";
import { onDatabase } from "../../support/suite.ts";
import { makeUser, readAudit, readUsers, type UserReply } from "../../support/users.ts";

const address = { line1: "Rua Augusta 1", city: "Lisboa", country: "PT" };

/** Returns the events after the creation of the users. */
async function changesOf(shop: Shop) {
  return (await readAudit(shop)).filter(({ event }) => /^user\.(?!created)/.test(event));
}

onDatabase("file", (suite) => {
  const { test } = suite;
  test("PATCH of a user changes only the given fields; null clears a name or a phone", async (shop) => {
    const user = await makeUser(shop, { name: "Ada", phone: "123", addresses: [address], metadata: { a: 1 } });
    suite.app.clock.advance(1000);
    const patch = (body: Record<string, unknown>) => shop.call<UserReply>(`PATCH /users/${user.id}/`, { body });
    const now = new Date(suite.app.clock.now()).toISOString();
    const { data, headers } = await patch({ name: "Ada L.", lang: "DE" });
    expect(data).toEqual({ ...user, name: "Ada L.", lang: "de", version: 2, updated_at: now });
    expect(headers.get("etag")).toBe('"2"');
    const cleared = { name: null, phone: null, addresses: [] };
    expect((await patch(cleared)).data).toEqual({ ...data, ...cleared, version: 3 });
    const managed = { role: "staff", status: "disabled", email_verified: true };
    expect((await patch(managed)).data).toMatchObject(managed as never);
    expect((await shop.call<UserReply>(`GET /users/${user.id}/`)).data.version).toBe(4);
  });

  test("a new email is unverified, unless the PATCH sets email_verified; an email in other case is the same", async (shop) => {
    const { id } = await makeUser(shop, { email: "ada@example.com", email_verified: true });
    const patch = async (body: Record<string, unknown>) => {
      const { data } = await shop.call<UserReply>(`PATCH /users/${id}/`, { body });
      return [data.email, data.email_verified];
    };
    expect(await patch({ email: "ADA@example.com" })).toEqual(["ADA@example.com", true]);
    expect(await patch({ email: "ada@example.org" })).toEqual(["ada@example.org", false]);
    expect(await patch({ email: "ada@example.net", email_verified: true })).toEqual(["ada@example.net", true]);
  });

  test("when staff or a key change an email, the old address gets a mail in the user's language that names no new address", async (shop) => {
    const { id } = await makeUser(shop, { email: "ada@example.com", lang: "de", name: "Ada" });
    const staff = await openAccount(shop, { role: "staff" });
    for (const [{ call }, email] of [
      [staff, "ADA@example.com"],
      [staff, "eve@example.org"],
      [shop, "ada@example.net"],
    ] as const) {
      expect((await call(`PATCH /users/${id}/`, { body: { email } })).status).toBe(200);
    }
    const mails = await deliverMail(shop);
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
      ["ADA@example.com", "Ihre E-Mail-Adresse wurde geändert"],
      ["eve@example.org", "Ihre E-Mail-Adresse wurde geändert"],
    ]);
    expect(mails[0]?.text).not.toContain("eve@");
  });

  test("the email of another user gets 409 with the field's name; a user's own email is not a conflict", async (shop) => {
    await makeUser(shop, { email: "taken@example.com" });
    const { id } = await makeUser(shop, { email: "ada@example.com" });
    const patch = (email: string) => shop.call(`PATCH /users/${id}/`, { body: { email } });
    const { code, fields } = await patch("TAKEN@example.com");
    expect({ code, fields }).toEqual({ code: 5302, fields: ["email"] });
    expect((await patch("ada@example.com")).status).toBe(200);
  });

  test("PATCH of a user with an unknown or invalid field gets 422 with its name, and nothing is written", async (shop) => {
    const user = await makeUser(shop);
    for (const [field, value] of [
      ["password", "Vermilion-Kettle-4871"],
      ["password_hash", "x"],
      ["id", "x"],
      ["email", null],
      ["role", null],
      ["role", "root"],
      ["phone", "x"],
      ["addresses", null],
    ] as const) {
      const reply = await shop.call(`PATCH /users/${user.id}/`, { body: { name: "Eve", [field]: value } });
      expect({ field, value, code: reply.code, fields: reply.fields }).toEqual({
        field,
        value,
        code: 5102,
        fields: [field],
      });
    }
    expect(await readUsers(shop)).toEqual([user]);
  });

  test("the audit log names changed fields without values, and roles with values", async (shop) => {
    const { id } = await makeUser(shop, { email: "ada@example.com" });
    const patch = (body: Record<string, unknown>) => shop.call(`PATCH /users/${id}/`, { body });
    await patch({ name: "Ada", phone: "123", metadata: { secret: "tea" }, lang: "de" });
    await patch({ role: "staff" });
    await patch({ status: "disabled" });
    await patch({ status: "active", role: "staff" });
    await patch({ email: "ADA@example.com" });
    await patch({ email: "eve@example.com", email_verified: true });
    await patch({});
    await patch({ email: "not an address" });
    await shop.call(`DELETE /users/${id}/`);
    const event = (name: string, details: unknown = null) => ({ event: `user.${name}`, subject: id, details });
    expect(await changesOf(shop)).toEqual([
      event("updated", { fields: ["name", "phone", "lang", "metadata"] }),
      event("role_changed", { from: "customer", to: "staff" }),
      event("disabled"),
      event("enabled"),
      event("updated", { fields: ["email"] }),
      event("email_changed"),
      event("updated", { fields: ["email_verified"] }),
      event("deleted", { role: "staff" }),
    ]);
  });

  const ends: [
    name: string,
    end: (by: Account["call"], id: string) => Promise<{ status: number; code: number | undefined }>,
  ][] = [
    ["demoted", (by, id) => by(`PATCH /users/${id}/`, { body: { role: "staff" } })],
    ["disabled", (by, id) => by(`PATCH /users/${id}/`, { body: { status: "disabled" } })],
    ["removed", (by, id) => by(`DELETE /users/${id}/`)],
  ];
  for (const [name, end] of ends) {
    test(`the last active owner cannot be ${name}, but one of two owners can be`, async (shop) => {
      const owner = await makeUser(shop, { role: "owner" });
      await makeUser(shop, { role: "owner", status: "disabled" });
      await makeUser(shop, { role: "staff" });
      await makeUser(await suite.shop(), { role: "owner" });
      const { code, status } = await end(shop.call, owner.id);
      expect({ code, status }).toEqual({ code: 5306, status: 409 });
      expect((await shop.call<UserReply>(`GET /users/${owner.id}/`)).data).toEqual(owner);
      expect((await shop.call(`PATCH /users/${owner.id}/`, { body: { role: "owner", name: "Ada" } })).status).toBe(200);
      await makeUser(shop, { role: "owner" });
      expect((await end(shop.call, owner.id)).status).toBe(200);
    });

    test(`if all owners are ${name} at once, by each other or by a key, one owner remains`, async (shop) => {
      const owners = await Promise.all(Array.from({ length: 4 }, () => openAccount(shop, { role: "owner" })));
      const replies = await Promise.all([
        ...owners.map(({ id }) => end(shop.call, id)),
        ...owners.map(({ call }, n) => end(call, (owners[(n + 1) % 4] as Account).id)),
      ]);
      expect(replies.filter(({ status }) => status >= 500)).toEqual([]);
      const left = (await readUsers(shop)).filter(({ role, status }) => role === "owner" && status === "active");
      expect(left).toHaveLength(1);
    });
  }
});

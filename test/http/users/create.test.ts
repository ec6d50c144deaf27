import { expect } from "bun:test";
import { goodPassword } from "../../support/account.ts";
import type { Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";
import { makeUser, readAudit, readUsers, type UserReply } from "../../support/users.ts";

const request = "POST /users/";
const email = "Ada@Example.com";
const address = { line1: "Rua Augusta 1", city: "Lisboa", country: "PT" };
const bcrypt = "$2b$04$ntqyfSzZIs5NPfSgBXsVfeVk5njM7/FyzmdqXnQS/XU/8hGGUqLQG";

const login = (shop: Shop, password: string, of = email) =>
  shop.callAnonymously("POST /auth/login/", { body: { email: of, password } });

/** Fields that are refused, with their names in `details`. */
const refused: [name: string, fields: Record<string, unknown>, field: string][] = [
  ["no email", { email: undefined }, "email"],
  ["an invalid email", { email: "ada" }, "email"],
  ["a null email", { email: null }, "email"],
  ["a blank name", { name: " " }, "name"],
  ["a name with a control character", { name: "Ada\u001b[31m" }, "name"],
  ["a phone with letters", { phone: "call me" }, "phone"],
  ["an unknown role", { role: "admin" }, "role"],
  ["an unknown status", { status: "deleted" }, "status"],
  ["email_verified that is not a boolean", { email_verified: 1 }, "email_verified"],
  ["an address without a city", { addresses: [{ line1: "x", country: "PT" }] }, "addresses.0.city"],
  ["an address in no country", { addresses: [{ ...address, country: "XX" }] }, "addresses.0.country"],
  ["an address with an unknown field", { addresses: [{ ...address, vat: "1" }] }, "addresses.0.vat"],
  ["two default addresses", { addresses: Array(2).fill({ ...address, is_default: true }) }, "addresses.1.is_default"],
  ["21 addresses", { addresses: Array(21).fill(address) }, "addresses"],
  ["metadata over 16 KiB", { metadata: { a: "x".repeat(16_400) } }, "metadata"],
  ["an invalid hash", { password_hash: "5f4dcc3b5aa765d61d8327deb882cf99" }, "password_hash"],
  ["a hash and a password", { password: goodPassword, password_hash: bcrypt }, "password_hash"],
  ["a password over 1,024 characters", { password: `Aa1!${"x".repeat(1021)}` }, "password"],
  ["an id", { id: "usr_01h455vb4pex5vsknk084sn02q" }, "id"],
  ["a version", { version: 7 }, "version"],
  ["last_login_at", { last_login_at: "2020-01-01T00:00:00Z" }, "last_login_at"],
  ["two_factor_enabled", { two_factor_enabled: true }, "two_factor_enabled"],
  ["an invalid lang", { lang: "english language" }, "lang"],
];
/** Weak passwords. They are refused with 5217. */
const weak = ["", "short", "Password123!Password123!"];

onDatabase("file", (suite) => {
  const { test } = suite;
  test("an invalid field, or one that the caller may not set, gets 422 with its name, and nothing is written", async (shop) => {
    for (const [name, fields, field] of refused) {
      const reply = await shop.call(request, { body: { email, ...fields } });
      expect({ name, code: reply.code, fields: reply.fields }).toEqual({ name, code: 5102, fields: [field] });
    }
    for (const password of weak) {
      const { code, fields, text } = await shop.call(request, { body: { email, password } });
      expect({ password, code, fields }).toEqual({ password, code: 5217, fields: ["password"] });
      if (password !== "") expect(text).not.toContain(password);
    }
    expect(await readUsers(shop)).toEqual([]);
  });

  test("a user needs only an email; other fields have defaults, and without a password nobody can sign in", async (shop) => {
    const { status, data, headers } = await shop.call<UserReply>(request, { body: { email } });
    const now = new Date(suite.app.clock.now()).toISOString();
    expect(data).toEqual({
      id: expect.stringMatching(/^usr_/),
      email,
      pending_email: null,
      name: null,
      phone: null,
      lang: null,
      role: "customer",
      status: "active",
      email_verified: false,
      addresses: [],
      metadata: {},
      two_factor_enabled: false,
      last_login_at: null,
      version: 1,
      created_at: now,
      updated_at: now,
    });
    expect([status, headers.get("etag")]).toEqual([201, '"1"']);
    expect((await shop.call<UserReply>(`GET /users/${data.id}/`)).data).toEqual(data);
    for (const password of ["", goodPassword]) expect((await login(shop, password)).status).toBeGreaterThanOrEqual(400);
  });

  test("every field of a user is stored; reply, list and audit log contain neither the password nor a hash", async (shop) => {
    const given = {
      email,
      name: "Ada Lovelace",
      phone: "+351 (21) 123-456",
      role: "staff",
      status: "active",
      email_verified: true,
      addresses: [address, { ...address, line2: "3.º", postal_code: "1100-053", phone: "1", is_default: true }],
      metadata: { tier: 2, "a.b": { c: [null, 1.5, "灯"] } },
    };
    const made = await shop.call<UserReply>(request, { body: { ...given, password: goodPassword, lang: "pt-br" } });
    expect(made.data).toMatchObject({ ...given, lang: "pt-BR" } as never);
    for (const text of [made.text, (await shop.call("GET /users/")).text, JSON.stringify(await readAudit(shop))]) {
      expect(text).not.toContain(goodPassword);
      expect(text).not.toMatch(/argon2|\$2b\$|password|hash/);
    }
    expect((await login(shop, goodPassword)).status).toBe(200);
  });

  test("a used email in any case gets 409 with the field's name; another store may use it, and so may a new user after a deletion", async () => {
    const [shop, other] = [await suite.shop(), await suite.shop()];
    await makeUser(shop, { email });
    for (const taken of [email, "ada@example.com", "ADA@EXAMPLE.COM", " ada@example.com"]) {
      const { code, status, fields } = await shop.call(request, { body: { email: taken } });
      expect({ taken, code, status, fields }).toEqual({ taken, code: 5302, status: 409, fields: ["email"] });
    }
    expect(await readUsers(shop)).toHaveLength(1);
    const { id } = await makeUser(other, { email });
    await other.call(`DELETE /users/${id}/`);
    expect((await makeUser(other, { email })).id).not.toBe(id);
  });

  test("of twenty concurrent creates with one email in different case, one succeeds and the others are refused", async (shop) => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const name = [..."racing-somebody"]
          .map((sign, at) => ((n >> (at % 6)) & 1 ? sign.toUpperCase() : sign))
          .join("");
        return shop.call(request, { body: { email: `${name}@example.com` } });
      }),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ code }) => code === 5302)).toHaveLength(19);
    expect(await readUsers(shop)).toHaveLength(1);
    expect((await readAudit(shop)).filter(({ event }) => event === "user.created")).toHaveLength(1);
  });
});

import { beforeAll, expect, test } from "bun:test";
import { type Account, openAccount } from "../../support/account.ts";
import { newAddress } from "../../support/client.ts";
import type { Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const password = "Vermilion-Kettle-4871";
/** Each endpoint, and a body that it accepts. */
const endpoints = [
  { request: "GET /users/me/two-factor/", body: undefined },
  { request: "POST /users/me/two-factor/", body: { password } },
  { request: "POST /users/me/two-factor/confirm/", body: { otp: "123456" } },
  { request: "POST /users/me/two-factor/disable/", body: { password, otp: "123456" } },
  { request: "POST /users/me/two-factor/recovery-codes/", body: { password, otp: "123456" } },
] as const;

onDatabase("file", (suite) => {
  let shop: Shop;
  let account: Account;
  let other: Account;
  beforeAll(async () => {
    shop = await suite.shop();
    account = await openAccount(shop);
    other = await openAccount(await suite.shop());
  });

  for (const { request, body } of endpoints) {
    test(`${request} without credentials is 5206`, async () => {
      expect((await shop.callAnonymously(request, { body, address: newAddress() })).code).toBe(5206);
    });

    test(`${request} with an app key of any scopes is 5300`, async () => {
      expect((await shop.call(request, { body, address: newAddress() })).code).toBe(5300);
    });

    test(`${request} with the token of another store's user is 5205`, async () => {
      const query = { user_id: other.id, token: other.token };
      expect((await shop.callAnonymously(request, { body, query, address: newAddress() })).code).toBe(5205);
      const mixed = { user_id: account.id, token: other.token };
      expect((await shop.callAnonymously(request, { body, query: mixed, address: newAddress() })).code).toBe(5205);
    });

    if (body === undefined) continue;
    for (const field of Object.keys(body)) {
      for (const [what, value] of [
        ["missing", undefined],
        ["empty", ""],
        ["a number", 123456],
        ["null", null],
        ["too long", "x".repeat(1025)],
      ] as const) {
        test(`${request} with ${field} ${what} is 5102`, async () => {
          const reply = await account.call(request, { body: { ...body, [field]: value } });
          expect({ code: reply.code, fields: reply.fields }).toEqual({ code: 5102, fields: [field] });
        });
      }
    }

    test(`${request} with an unknown field is 5102`, async () => {
      const reply = await account.call(request, { body: { ...body, remember: true } });
      expect({ code: reply.code, fields: reply.fields }).toEqual({ code: 5102, fields: ["remember"] });
    });
  }

  test("a signed-in user sees their own state", async () => {
    const { data } = await account.call("GET /users/me/two-factor/");
    expect(data).toEqual({ enabled: false, confirmed_at: null, recovery_codes_left: 0 });
  });
});

import { expect, test } from "bun:test";
import { goodPassword, openAccount } from "../../support/account.ts";
import { readOutbox } from "../../support/mail.ts";
import { onDatabase } from "../../support/suite.ts";

const state = "GET /users/me/two-factor/";
const disable = "POST /users/me/two-factor/disable/";
const renew = "POST /users/me/two-factor/recovery-codes/";
const password = goodPassword;
const wrongPassword = "Vermilion-Kettle-4872";

interface Codes {
  recovery_codes: string[];
}

onDatabase("file", (suite) => {
  async function enrolled() {
    const shop = await suite.shop();
    const account = await openAccount(shop);
    const codes = await account.enrol();
    return { shop, account, codes };
  }

  test("password and code disable two-factor, and the user gets a mail", async () => {
    const { shop, account } = await enrolled();
    const { status, data } = await account.call(disable, { body: { password, otp: await account.code() } });
    expect([status, data]).toEqual([200, { enabled: false }]);
    expect((await account.call(state)).data).toEqual({ enabled: false, confirmed_at: null, recovery_codes_left: 0 });
    const mails = await readOutbox(suite.app, shop.namespace);
    expect(mails.map(({ kind, values }) => [kind, values?.state])).toEqual([
      ["two_factor_changed", "enabled"],
      ["two_factor_changed", "disabled"],
    ]);
  });

  test("new recovery codes replace all old recovery codes, used or not", async () => {
    const { account, codes } = await enrolled();
    const { data } = await account.call<Codes>(renew, { body: { password, otp: codes[0] } });
    expect(data.recovery_codes).toHaveLength(10);
    expect(data.recovery_codes.filter((code) => codes.includes(code))).toEqual([]);
    expect((await account.call(state)).data).toMatchObject({ enabled: true, recovery_codes_left: 10 });
    expect((await account.call(disable, { body: { password, otp: codes[1] } })).code).toBe(5212);
    expect((await account.call(disable, { body: { password, otp: data.recovery_codes[1] } })).status).toBe(200);
  });

  for (const [name, request] of [
    ["disabling", disable],
    ["new recovery codes", renew],
  ] as const) {
    test(`${name}: gets 5306 while two-factor is disabled or not confirmed`, async () => {
      const account = await openAccount(await suite.shop());
      expect((await account.call(request, { body: { password, otp: "123456" } })).code).toBe(5306);
      await account.begin();
      expect((await account.call(request, { body: { password, otp: await account.code() } })).code).toBe(5306);
    });

    test(`${name}: a wrong password and a wrong code get the same reply (5212), and change nothing`, async () => {
      const { account } = await enrolled();
      const replies = [
        await account.call(request, { body: { password: wrongPassword, otp: await account.code() } }),
        await account.call(request, { body: { password, otp: await account.wrongCode() } }),
      ];
      const [one, two] = replies.map(({ status, text, requestId }) => [status, text.replace(requestId, "")]);
      expect(one as unknown[]).toEqual(two as unknown[]);
      expect(replies[0]?.code).toBe(5212);
      expect((await account.call(state)).data).toMatchObject({ enabled: true, recovery_codes_left: 10 });
    });

    test(`${name}: a wrong password does not use up a code, and after three failures the right values get 5213`, async () => {
      const { account, codes } = await enrolled();
      for (let n = 0; n < 3; n++) {
        expect((await account.call(request, { body: { password: wrongPassword, otp: codes[2] } })).code).toBe(5212);
      }
      const body = { password, otp: codes[2] };
      expect((await account.call(request, { body })).code).toBe(5213);
      suite.app.clock.advance(20 * 60_000);
      expect((await account.call(request, { body })).status).toBe(200);
    });
  }

  test("a field that is missing, empty, too long or of another type gets 5102", async () => {
    const account = await openAccount(await suite.shop());
    for (const [request, body] of [
      ["POST /users/me/two-factor/", { password }],
      ["POST /users/me/two-factor/confirm/", { otp: "123456" }],
      [disable, { password, otp: "123456" }],
      [renew, { password, otp: "123456" }],
    ] as const) {
      for (const field of Object.keys(body)) {
        for (const value of [undefined, "", 123456, null, "x".repeat(1025)]) {
          const { code, fields } = await account.call(request, { body: { ...body, [field]: value } });
          expect([request, value, code, fields]).toEqual([request, value, 5102, [field]]);
        }
      }
    }
  });

  test("the audit log has failures, and refusals after too many failures, without the sent values", async () => {
    const { account } = await enrolled();
    const otp = await account.wrongCode();
    for (let n = 0; n < 4; n++) await account.call(disable, { body: { password: wrongPassword, otp } });
    const { rows } = await suite.app.db.execute({
      sql: "select event, code, details from audit_log where subject = ? and event like 'two_factor.%' order by seq",
      args: [account.id],
    });
    expect(rows.map((row) => [row.event, row.code])).toEqual([
      ["two_factor.begun", null],
      ["two_factor.enabled", null],
      ...Array(3).fill(["two_factor.failed", 5212]),
      ["two_factor.failed", 5213],
    ]);
    expect(JSON.stringify(rows)).not.toContain(otp);
  });
});

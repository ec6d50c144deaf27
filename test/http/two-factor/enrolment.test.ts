import { expect } from "bun:test";
import { goodPassword, openAccount } from "../../support/account.ts";
import { readOutbox } from "../../support/mail.ts";
import { onDatabase } from "../../support/suite.ts";

const begin = "POST /users/me/two-factor/";
const confirm = "POST /users/me/two-factor/confirm/";
const off = { enabled: false, confirmed_at: null, recovery_codes_left: 0 };
const wrongPassword = "Vermilion-Kettle-4872";

onDatabase("file", (suite) => {
  const { test } = suite;
  const open = async () => openAccount(await suite.shop());
  const isOn = async (account: Awaited<ReturnType<typeof open>>) =>
    (await account.call<typeof off>("GET /users/me/two-factor/")).data.enabled;

  test("beginning an enrolment returns secret, otpauth address and QR code, and does not enable two-factor", async () => {
    const shop = await suite.shop({ tenant: { title: "Lamps & Co" } });
    const account = await openAccount(shop);
    const begun = await account.begin();
    expect(begun.secret).toMatch(/^[A-Z2-7]{32}$/);
    const uri = new URL(begun.otpauth_uri);
    expect(uri.href).toStartWith("otpauth://totp/");
    expect(decodeURIComponent(uri.pathname)).toBe(`/Lamps & Co:${account.email}`);
    const { secret } = begun;
    const code = { secret, algorithm: "SHA1", digits: "6", period: "30" };
    expect(Object.fromEntries(uri.searchParams)).toEqual({ issuer: "Lamps & Co", ...code });
    expect(begun.qr_svg).toStartWith("<svg");
    expect((await account.call("GET /users/me/two-factor/")).data).toEqual(off);
  });

  test("confirming an enrolment enables two-factor, returns ten recovery codes, and mails the user", async (shop) => {
    const account = await openAccount(shop);
    await account.begin();
    const { status, data } = await account.call(confirm, { body: { otp: await account.code() } });
    expect(data.next_step).toBe("Each code works once. To sign in, wait for the next one, up to 30 seconds.");
    expect(status).toBe(200);
    expect(data.recovery_codes).toHaveLength(10);
    expect((await account.call("GET /users/me/two-factor/")).data).toEqual({
      enabled: true,
      confirmed_at: new Date(suite.app.clock.now()).toISOString(),
      recovery_codes_left: 10,
    });
    const [mail, ...others] = await readOutbox(suite.app, shop.namespace);
    expect(mail).toMatchObject({ kind: "two_factor_changed", to: { email: account.email } });
    expect(others).toEqual([]);
  });

  test("beginning an enrolment again replaces the secret", async () => {
    const account = await open();
    await account.begin();
    const ofFirst = await account.code();
    await account.begin();
    expect((await account.call(confirm, { body: { otp: ofFirst } })).code).toBe(5212);
    expect((await account.call(confirm, { body: { otp: await account.code() } })).status).toBe(200);
  });

  test("while two-factor is enabled, an enrolment cannot be begun or confirmed (5306)", async () => {
    const account = await open();
    await account.enrol();
    expect((await account.call(begin, { body: { password: goodPassword } })).code).toBe(5306);
    expect((await account.call(confirm, { body: { otp: await account.code() } })).code).toBe(5306);
    expect(await isOn(account)).toBe(true);
  });

  test("an enrolment can be confirmed for an hour; afterwards it must be begun again (5306)", async () => {
    const account = await open();
    await account.begin();
    suite.app.clock.advance(3_600_000 - 1);
    expect((await account.call(confirm, { body: { otp: await account.wrongCode() } })).code).toBe(5212);
    suite.app.clock.advance(1);
    for (const otp of [await account.code(), await account.wrongCode()]) {
      expect((await account.call(confirm, { body: { otp } })).code).toBe(5306);
    }
    expect(await isOn(account)).toBe(false);
    await account.begin();
    suite.app.clock.advance(3_600_000 - 1);
    expect((await account.call(confirm, { body: { otp: await account.code() } })).status).toBe(200);
  });

  test("a wrong password begins no enrolment, and a wrong code or a code in the form of a recovery code confirms none (5212)", async () => {
    const account = await open();
    expect((await account.call(begin, { body: { password: wrongPassword } })).code).toBe(5212);
    expect((await account.call(confirm, { body: { otp: "123456" } })).code).toBe(5306);
    await account.begin();
    for (const otp of [await account.wrongCode(), "01234-56789"]) {
      expect((await account.call(confirm, { body: { otp } })).code).toBe(5212);
    }
    expect(await isOn(account)).toBe(false);
  });

  test("the fourth failure in 20 minutes gets 5213, and then even the right code and password get 5213", async () => {
    const account = await open();
    await account.begin();
    const wrong = [
      [begin, { password: wrongPassword }],
      [confirm, { otp: await account.wrongCode() }],
      [begin, { password: wrongPassword }],
    ] as const;
    for (const [request, body] of wrong) {
      expect((await account.call(request, { body })).code).toBe(5212);
      suite.app.clock.advance(1000);
    }
    const refusals = [
      await account.call(confirm, { body: { otp: await account.wrongCode() } }),
      await account.call(confirm, { body: { otp: await account.code() } }),
      await account.call(begin, { body: { password: goodPassword } }),
    ];
    expect(refusals.map(({ code }) => code)).toEqual([5213, 5213, 5213]);
    const wait = Number(refusals[0]?.headers.get("retry-after"));
    expect(wait).toBe(20 * 60 - 3);
    suite.app.clock.advance((wait - 1) * 1000);
    expect((await account.call(confirm, { body: { otp: await account.code() } })).code).toBe(5213);
    suite.app.clock.advance(1000);
    expect((await account.call(confirm, { body: { otp: await account.code() } })).status).toBe(200);
  });

  test("of many concurrent confirmations with the right code, only one returns recovery codes", async () => {
    const account = await open();
    await account.begin();
    const otp = await account.code();
    const replies = await Promise.all(Array.from({ length: 10 }, () => account.call(confirm, { body: { otp } })));
    expect(replies.map(({ code }) => code).toSorted()).toEqual([...Array(9).fill(5306), undefined]);
    const { recovery_codes_left: left } = (await account.call<typeof off>("GET /users/me/two-factor/")).data;
    expect(left).toBe(10);
  });
});

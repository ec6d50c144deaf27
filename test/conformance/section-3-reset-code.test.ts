import { beforeAll, describe, expect, test } from "bun:test";
import { type ServedShop, type ServedUser, useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();
const validMs = 15 * 60_000;
const password = "Another-Kettle-9026";

let shop: ServedShop;
beforeAll(async () => {
  shop = await startServedShop();
});

const reset = (user: ServedUser, code: string, to = password) =>
  shop.callAnonymously("POST /auth/password/reset/", { body: { email: user.email, code, password: to } });
const login = (user: ServedUser, by: string) =>
  shop.callAnonymously("POST /auth/login/", { body: { email: user.email, password: by } });
/** Returns a wrong code of the same form. */
const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

async function issueCode(): Promise<{ user: ServedUser; code: string }> {
  const user = await shop.createUser();
  return { user, code: await shop.requestCode(user) };
}

test("§3 Reset code, row 1: none → POST /auth/password/forgot/ → issued, a 6-digit code sent to the inbox", async () => {
  const { user, code } = await issueCode();
  expect(code).toMatch(/^\d{6}$/);
  expect(shop.mailbox.received.filter((mail) => mail.to === user.email)).toHaveLength(1);
  expect((await reset(user, code)).status).toBe(200);
});

describe("§3 Reset code, row 2, §8 validity: issued → POST /auth/password/reset/ → used, password changed", () => {
  test("with the correct code: the new password signs in, the old one does not", async () => {
    const { user, code } = await issueCode();
    expect((await reset(user, code)).status).toBe(200);
    expect((await login(user, user.password)).code).toBe(5212);
    expect((await login(user, password)).status).toBe(200);
  });

  test("not with another code, nor with the code of another user", async () => {
    const [one, other] = [await issueCode(), await issueCode()];
    expect((await reset(one.user, wrong(one.code))).code).toBe(5216);
    if (one.code !== other.code) expect((await reset(one.user, other.code)).code).toBe(5216);
    expect((await login(one.user, one.user.password)).status).toBe(200);
  });

  test("within 15 minutes", async () => {
    const { user, code } = await issueCode();
    shop.clock.advance(validMs - 1);
    expect((await reset(user, code)).status).toBe(200);
  });

  test("after fewer than 5 wrong tries", async () => {
    const { user, code } = await issueCode();
    for (let n = 0; n < 4; n++) expect((await reset(user, wrong(code))).code).toBe(5216);
    expect((await reset(user, code)).status).toBe(200);
  });

  test("with a strong password; a weak one neither spends the code nor counts as a try", async () => {
    const { user, code } = await issueCode();
    for (let n = 0; n < 6; n++) expect((await reset(user, code, "Too-weak-1")).code).toBe(5217);
    expect((await reset(user, code)).status).toBe(200);
  });
});

test("§3 Reset code, row 3, §8 validity: issued → 15 minutes elapsed → expired, 5216 on use", async () => {
  const { user, code } = await issueCode();
  shop.clock.advance(validMs);
  expect((await reset(user, code)).code).toBe(5216);
  expect((await login(user, user.password)).status).toBe(200);
});

describe("§3 Reset code, row 4, §8 wrong tries: issued → 5 wrong tries → locked", () => {
  test("5213 from then on, for the correct code as well", async () => {
    const { user, code } = await issueCode();
    for (let n = 0; n < 5; n++) await reset(user, wrong(code));
    for (const tried of [wrong(code), code]) expect((await reset(user, tried)).code).toBe(5213);
    expect((await login(user, user.password)).status).toBe(200);
  });

  test("a new code can be requested, and works", async () => {
    const { user, code } = await issueCode();
    for (let n = 0; n < 6; n++) await reset(user, wrong(code));
    const second = await shop.requestCode(user);
    expect((await reset(user, second)).status).toBe(200);
  });
});

test("§3 Reset code, row 5, §8 single use: used → reuse → rejected with 5216", async () => {
  const { user, code } = await issueCode();
  expect((await reset(user, code)).status).toBe(200);
  expect((await reset(user, code, "Yet-Another-Kettle-1").then((reply) => reply.code)) ?? "taken").toBe(5216);
  expect((await login(user, password)).status).toBe(200);
});

describe("§3 Reset code: a successful reset does not sign the user in", () => {
  test("its reply contains no token", async () => {
    const { user, code } = await issueCode();
    const { status, text } = await reset(user, code);
    expect(status).toBe(200);
    expect(text).not.toContain("v2.");
    expect(text).not.toContain("expires_at");
  });

  test("the login that follows asks for the two-factor code when the user has one", async () => {
    const user = await shop.createUser();
    const authenticator = await shop.enrol(user);
    expect((await reset(user, await shop.requestCode(user))).status).toBe(200);
    shop.clock.advance(30_000);
    expect((await login(user, password)).code).toBe(5211);
    const body = { email: user.email, password, otp: authenticator.code() };
    expect((await shop.callAnonymously("POST /auth/login/", { body })).status).toBe(200);
  });
});

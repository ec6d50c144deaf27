import { expect, spyOn } from "bun:test";
import { issueCode } from "../../../src/server/modules/mail-codes/service.ts";
import { updateTenant } from "../../../src/server/modules/tenants/service.ts";
import { goodPassword, openAccount } from "../../support/account.ts";
import { type ApiReply, newAddress } from "../../support/client.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { readOutbox } from "../../support/mail.ts";
import { hasPassword, otherCode, requestCode, reset } from "../../support/password-reset.ts";
import { type ApiScenario, runScenarios, scenariosOf } from "../../support/scenarios.ts";
import { codeIn, deliverMail, readCode, signUp } from "../../support/sign-up.ts";
import { onDatabase, type Suite } from "../../support/suite.ts";
import { makeUser, readUsers } from "../../support/users.ts";

const email = "ada@example.com";
const switchOn = (shop: Shop) => updateTenant(shop.app.system, shop.namespace, { signInByMail: "on" });

/** Creates a store in which customers can log in with a mailed code. */
async function openShop(suite: Suite): Promise<Shop> {
  const shop = await suite.shop();
  await switchOn(shop);
  return shop;
}

/** Requests a code with the shop's key, from a new address each time. */
const ask = (shop: Shop, to: string, more = {}) => shop.call("POST /auth/code/", { body: { email: to }, ...more });
/** Logs in without app credentials, from a new address each time. */
const login = (shop: Shop, body: Record<string, unknown>, address = newAddress()) =>
  shop.callAnonymously("POST /auth/login/", { body, address });

/** Requests a code, and reads it in the queued mail. */
async function mailedCode(shop: Shop, to: string): Promise<string> {
  await ask(shop, to);
  return readCode(shop, "login_code");
}

const codeOf = ({ code }: ApiReply) => code;
const bytesOf = ({ status, text, requestId }: ApiReply) => [status, text.replace(requestId, "")];
const send = (body: unknown, more = {}) => ({ body, ...more });
const on =
  (body: unknown, more = {}) =>
  async (shop: Shop) => {
    await switchOn(shop);
    return send(body, more);
  };
const loginRequest = "POST /auth/login/";
const codeRequest = "POST /auth/code/";

const scenarios: ApiScenario[] = [
  ...scenariosOf(codeRequest, [
    [
      "a code is mailed in a store with sign-in by mail",
      on({ email }),
      200,
      { check: ({ data }: ApiReply) => expect(data).toEqual({ accepted: true }) },
    ],
    ["a request for a code without an email gets 5102", on({}), 5102, "email"],
  ]),
  ...scenariosOf(loginRequest, [
    ["a login with neither password nor code gets 5102", on({ email }), 5102, "password"],
    [
      "a login with both password and code gets 5102",
      on({ email, password: goodPassword, code: "012345" }),
      5102,
      "code",
      { lacks: [goodPassword] },
    ],
    ["a login with a number as the code gets 5102", on({ email, code: 123456 }), 5102, "code"],
    ["a login with a code that was never mailed gets 5212", on({ email, code: "012345" }), 5212],
    ["a login with a code and an invalid address gets 5212", on({ email: "nobody", code: "012345" }), 5212],
  ]),
];

onDatabase("file", (suite) => {
  const { test } = suite;
  runScenarios(suite, scenarios);

  test("a store without sign-in by mail refuses to mail and to accept a code, whether or not the address has an account", async (shop) => {
    await openAccount(shop, { email });
    for (const to of [email, "none@example.com"]) {
      const asked = await ask(shop, to);
      expect([asked.code, asked.text]).toEqual([5300, expect.stringContaining("cannot sign in by mail")]);
      const tried = await login(shop, { email: to, code: "012345" });
      expect([tried.code, tried.fields]).toEqual([5102, ["code"]]);
    }
    expect(await readOutbox(suite.app, shop.namespace)).toEqual([]);
  });

  test("the mailed code logs in once, replaces the token, and keeps the password", async () => {
    const shop = await openShop(suite);
    const account = await openAccount(shop, { email });
    await ask(shop, ` ${email.toUpperCase()} `, { query: { lang: "de" } });
    const [mail] = await deliverMail(shop);
    expect(mail).toMatchObject({ to: email, subject: "Ihr Anmeldecode" });
    const code = codeIn(mail?.text);
    const { status, data } = await login(shop, { email, code: ` ${code} ` });
    expect([status, Object.keys(data)]).toEqual([200, ["user_id", "token", "expires_at", "store"]]);
    expect(data.user_id).toBe(account.id);
    expect((await account.call("GET /users/me/")).code).toBe(5207);
    const query = { user_id: account.id, token: data.token as string };
    expect((await shop.callAnonymously("GET /users/me/", { query })).status).toBe(200);
    expect((await login(shop, { email, code })).code).toBe(5212);
    expect(await hasPassword(shop, account.id, goodPassword)).toBe(true);
  });

  test("staff, owners, disabled users and strangers get the same reply as a customer, and no mail", async () => {
    const shop = await openShop(suite);
    await openAccount(shop, { email });
    await openAccount(shop, { email: "staff@example.com", role: "staff" });
    await openAccount(shop, { email: "owner@example.com", role: "owner" });
    await makeUser(shop, { email: "gone@example.com", status: "disabled" });
    const others = ["staff@example.com", "owner@example.com", "gone@example.com", "none@example.com"];
    const asked = await ask(shop, email);
    const tried = await login(shop, { email, code: "a wrong one" });
    for (const to of others) {
      expect(bytesOf(await ask(shop, to))).toEqual(bytesOf(asked));
      expect(bytesOf(await login(shop, { email: to, code: "a wrong one" }))).toEqual(bytesOf(tried));
      // No mail contains this code, so nobody can know it.
      const { code } = await issueCode(await tenantContext(shop), { purpose: "login", subject: to });
      expect(bytesOf(await login(shop, { email: to, code }))).toEqual(bytesOf(tried));
    }
    expect((await deliverMail(shop)).map(({ to }) => to)).toEqual([email]);
    const mails = await readOutbox(suite.app, shop.namespace);
    expect(mails.map(({ status }) => status)).toEqual(["sent", "dropped", "dropped", "dropped", "dropped"]);
  });

  test("a customer who has become staff meanwhile cannot log in with the code", async () => {
    const shop = await openShop(suite);
    const { id } = await openAccount(shop, { email });
    const code = await mailedCode(shop, email);
    await shop.call(`PATCH /users/${id}/`, { body: { role: "staff" } });
    expect((await login(shop, { email, code })).code).toBe(5212);
  });

  test("a code of another store, or a code for a password reset, cannot log in", async () => {
    const [shop, elsewhere] = [await openShop(suite), await openShop(suite)];
    await openAccount(shop, { email });
    await openAccount(elsewhere, { email });
    await ask(shop, email);
    const code = await mailedCode(elsewhere, email);
    const own = await readCode(shop, "login_code");
    if (code !== own) expect((await login(shop, { email, code })).code).toBe(5212);
    const resetCode = await requestCode(shop, email);
    if (resetCode !== own) expect((await login(shop, { email, code: resetCode })).code).toBe(5212);
    if (own !== resetCode) expect((await reset(shop, email, own)).code).toBe(5216);
    expect((await login(shop, { email, code: own })).status).toBe(200);
  });

  test("a login with a mailed code requires the second factor, and a login without it does not use up the code", async () => {
    const shop = await openShop(suite);
    const account = await openAccount(shop, { email });
    await account.enrol();
    const code = await mailedCode(shop, email);
    expect((await login(shop, { email, code: otherCode(code) })).code).toBe(5212);
    expect((await login(shop, { email, code })).code).toBe(5211);
    expect((await login(shop, { email, code, otp: "" })).code).toBe(5211);
    expect((await login(shop, { email, code, otp: await account.wrongCode() })).code).toBe(5212);
    expect((await login(shop, { email, code, otp: await account.code() })).status).toBe(200);
    suite.app.clock.advance(60_000);
    expect((await login(shop, { email, code, otp: await account.code() })).code).toBe(5212);
  });

  test("wrong codes count as failed logins, even for an unknown address: after three, each login gets 5213, even with a password", async () => {
    const shop = await openShop(suite);
    await openAccount(shop, { email });
    const trace: unknown[] = [];
    for (const to of [email, "none@example.com"]) {
      const wrong = otherCode(await mailedCode(shop, to));
      const codes = [];
      for (let n = 0; n < 4; n++) codes.push(codeOf(await login(shop, { email: to, code: wrong })));
      trace.push([...codes, codeOf(await login(shop, { email: to, password: goodPassword }))]);
    }
    expect(trace).toEqual([
      [5212, 5212, 5212, 5213, 5213],
      [5212, 5212, 5212, 5213, 5213],
    ]);
  });

  test("five wrong tries lock the code until it expires (5213), even with successful password logins between them", async () => {
    const shop = await openShop(suite);
    await openAccount(shop, { email });
    const code = await mailedCode(shop, email);
    for (const tries of [2, 2, 1]) {
      for (let n = 0; n < tries; n++) expect((await login(shop, { email, code: otherCode(code) })).code).toBe(5212);
      expect((await login(shop, { email, password: goodPassword })).status).toBe(200);
    }
    const locked = await login(shop, { email, code });
    expect([locked.code, Number(locked.headers.get("retry-after"))]).toEqual([5213, 15 * 60]);
    const next = await mailedCode(shop, email);
    expect((await login(shop, { email, code: next })).status).toBe(200);
  });

  test("a login with a used code, or with one that was never mailed, does not count as a failed login", async () => {
    const shop = await openShop(suite);
    await openAccount(shop, { email });
    const code = await mailedCode(shop, email);
    expect((await login(shop, { email, code })).status).toBe(200);
    for (let n = 0; n < 5; n++) expect((await login(shop, { email, code })).code).toBe(5212);
    expect((await login(shop, { email, password: goodPassword })).status).toBe(200);
  });

  test("no password is hashed for a login with a code, whether or not the address has an account", async () => {
    const shop = await openShop(suite);
    await openAccount(shop, { email });
    const verify = spyOn(Bun.password, "verify");
    for (const to of [email, "none@example.com"]) await login(shop, { email: to, code: "012345" });
    expect(verify).not.toHaveBeenCalled();
    verify.mockRestore();
  });

  test("after an open sign-up by a stranger, a mailed code gives the account to the owner of the address", async () => {
    const shop = await openShop(suite);
    await updateTenant(suite.app.system, shop.namespace, { signUp: "open" });
    await signUp(shop, email);
    const { data: strangers } = await login(shop, { email, password: goodPassword });
    expect((await login(shop, { email, code: await mailedCode(shop, email) })).status).toBe(200);
    expect(await readUsers(shop)).toMatchObject([{ email, email_verified: true }]);
    expect((await login(shop, { email, password: goodPassword })).code).toBe(5212);
    const query = { user_id: strangers.user_id as string, token: strangers.token as string };
    expect((await shop.callAnonymously("GET /users/me/", { query })).code).toBe(5207);
  });

  test("of 16 concurrent logins with one code, only one gets a token, and the account is not locked", async () => {
    const shop = await openShop(suite);
    // A customer without a password can log in, too.
    const { id } = await makeUser(shop, { email });
    const code = await mailedCode(shop, email);
    const replies = await Promise.all(Array.from({ length: 16 }, () => login(shop, { email, code })));
    expect(replies.map((reply) => reply.code ?? reply.status).toSorted()).toEqual([200, ...Array(15).fill(5212)]);
    const { rows } = await suite.app.db.execute({
      sql: "select count(*) as n from user_tokens where user_id = ? and ended_at is null",
      args: [id],
    });
    expect(Number(rows[0]?.n)).toBe(1);
    expect((await login(shop, { email, code: await mailedCode(shop, email) })).status).toBe(200);
  });
});

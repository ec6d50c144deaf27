import { expect } from "bun:test";
import { loginFailures } from "../../../src/server/modules/passwords/failures.ts";
import { checkLimit, countHit } from "../../../src/server/modules/rate-limits/service.ts";
import { createUser, setPassword, updateUser } from "../../../src/server/modules/users/service.ts";
import { type Account, goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { readOutbox } from "../../support/mail.ts";
import { forgot, hasPassword, openAccountWithCode, requestCode, reset } from "../../support/password-reset.ts";
import { readCode } from "../../support/sign-up.ts";
import { onDatabase } from "../../support/suite.ts";

onDatabase("file", (suite) => {
  const { test } = suite;
  test("a reset sends a mail to the user, and is recorded in the audit log", async () => {
    const { shop, account, email, code } = await openAccountWithCode(suite);
    await reset(shop, email, code);
    const [, mail, ...others] = await readOutbox(suite.app, shop.namespace);
    expect(mail).toMatchObject({ kind: "password_changed", to: { email } });
    expect(JSON.stringify(mail)).not.toContain(otherPassword);
    expect(others).toEqual([]);
    const { rows } = await suite.app.db.execute({
      sql: "select * from audit_log where event = 'password.reset' and subject = ?",
      args: [account.id],
    });
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ actor_kind: "visitor", details: '{"sessions_ended":1}' });
  });

  test("a reset accepts the address in upper and lower case", async (shop) => {
    const account = await openAccount(shop, { email: "Grace.Hopper@Example.com" });
    const code = await requestCode(shop, "GRACE.HOPPER@EXAMPLE.COM");
    expect((await reset(shop, " grace.hopper@example.com ", code)).status).toBe(200);
    expect(await hasPassword(shop, account.id, otherPassword)).toBe(true);
  });

  test("a new code makes the previous code invalid", async () => {
    const { shop, email, code } = await openAccountWithCode(suite);
    let second = await requestCode(shop, email);
    if (second === code) second = await requestCode(shop, email);
    expect((await reset(shop, email, code)).code).toBe(5216);
    expect((await reset(shop, email, second)).status).toBe(200);
  });

  test("a code is valid for one address and one store only", async () => {
    const one = await openAccountWithCode(suite);
    const two = await openAccount(one.shop);
    await forgot(one.shop, two.email);
    const elsewhere = await suite.shop();
    await createUser(await tenantContext(elsewhere), { email: one.email, password: goodPassword });
    await forgot(elsewhere, one.email);
    expect((await reset(one.shop, two.email, one.code)).code).toBe(5216);
    expect((await reset(elsewhere, one.email, one.code)).code).toBe(5216);
    expect((await reset(one.shop, one.email, one.code)).status).toBe(200);
  });

  test("a user without a password, or with an imported password, can reset it", async (shop) => {
    const ctx = await tenantContext(shop);
    const bcrypt = await Bun.password.hash("of another system", { algorithm: "bcrypt", cost: 4 });
    const bare = await createUser(ctx, { email: "bare@example.com" });
    const imported = await createUser(ctx, { email: "imported@example.com", password_hash: bcrypt });
    for (const { id, email } of [bare, imported]) {
      expect((await reset(shop, email, await requestCode(shop, email))).status).toBe(200);
      expect(await hasPassword(shop, id, otherPassword)).toBe(true);
    }
  });

  test("a disabled user gets the same reply (5216) as an unknown user, and stays disabled", async () => {
    const { shop, account, email, code } = await openAccountWithCode(suite);
    await updateUser(await tenantContext(shop), account.id, { status: "disabled" }, null);
    expect((await reset(shop, email, code)).code).toBe(5216);
    expect(await hasPassword(shop, account.id, goodPassword)).toBe(true);
  });

  /** Whether sign-ins are refused, because the user has used up the failed attempts. */
  async function isLockedOut(shop: Shop, email: string): Promise<boolean> {
    const ctx = await tenantContext(shop);
    return (await checkLimit(ctx, loginFailures, failuresOf(ctx.tenant.id, email))) > 0;
  }

  async function lockOut(shop: Shop, email: string): Promise<void> {
    const ctx = await tenantContext(shop);
    for (let n = 0; n < 3; n++) await countHit(ctx, loginFailures, failuresOf(ctx.tenant.id, email));
  }

  const failuresOf = (tenantId: string, email: string) => Bun.SHA256.hash(`${tenantId}:${email}`, "base64url");

  test("a password reset allows a sign-in at once, even after failed sign-ins", async () => {
    const { shop, email, code } = await openAccountWithCode(suite);
    await lockOut(shop, email);
    await reset(shop, email, code);
    expect(await isLockedOut(shop, email)).toBe(false);
  });

  test("a password reset keeps two-factor enabled, and allows no further attempts at one-time codes", async (shop) => {
    const account = await openAccount(shop);
    const codes = await account.enrol();
    await lockOut(shop, account.email);
    expect((await reset(shop, account.email, await requestCode(shop, account.email))).status).toBe(200);
    expect(await isLockedOut(shop, account.email)).toBe(true);
    const { rows } = await suite.app.db.execute({
      sql: `select count(*) as n from two_factor t join recovery_codes r on r.user_id = t.user_id
        where t.user_id = ? and confirmed_at is not null and used_at is null`,
      args: [account.id],
    });
    expect(rows[0]?.n).toBe(codes.length);
  });

  const sends = (body: object) => ({ body });
  test("a code that was requested before the address had a user is not valid for the new user", async (shop) => {
    const account = await openAccount(shop);
    const code = await requestCode(shop, "soon-taken@example.com");
    await account.call("PATCH /users/me/", sends({ email: "soon-taken@example.com", password: goodPassword }));
    expect((await reset(shop, "soon-taken@example.com", code)).code).toBe(5216);
  });

  const voids: [name: string, act: (shop: Shop, account: Account) => Promise<unknown>][] = [
    [
      "the user changes the password",
      (_shop, { call }) =>
        call("POST /users/me/password/", sends({ current_password: goodPassword, password: "Amber*Lantern*2604" })),
    ],
    [
      "a command sets the password",
      async (shop, { id }) => setPassword(await tenantContext(shop), id, "Amber*Lantern*2604"),
    ],
    [
      "the user is disabled, and enabled again",
      async (shop, { id }) => {
        await shop.call(`PATCH /users/${id}/`, sends({ status: "disabled" }));
        return shop.call(`PATCH /users/${id}/`, sends({ status: "active" }));
      },
    ],
    [
      "the user is removed, and another user gets the address",
      async (shop, { id, email }) => {
        await shop.call(`DELETE /users/${id}/`);
        return shop.call("POST /users/", sends({ email }));
      },
    ],
    [
      "the user changes the address, and another user gets it",
      async (shop, { call, email }) => {
        await call("PATCH /users/me/", sends({ email: `new-${email}`, password: goodPassword }));
        await call("POST /users/me/email/verify/", sends({ code: await readCode(shop, "email_code") }));
        return shop.call("POST /users/", sends({ email }));
      },
    ],
    [
      "staff give the user the address for which the code was requested",
      async (shop, { id, email }) => {
        await shop.call(`PATCH /users/${id}/`, sends({ email: `new-${email}` }));
        return shop.call(`PATCH /users/${id}/`, sends({ email }));
      },
    ],
  ];
  for (const [name, act] of voids) {
    test(`a code is no longer valid after ${name}`, async (shop) => {
      const account = await openAccount(shop);
      const code = await requestCode(shop, account.email);
      await act(shop, account);
      expect((await reset(shop, account.email, code)).code).toBe(5216);
    });
  }
  test("a login that began before a reset returns no token that is valid after the reset", async () => {
    const { shop, account, email, code } = await openAccountWithCode(suite);
    const body = { email, password: goodPassword };
    const login = shop.callAnonymously("POST /auth/login/", { body });
    const [signedIn] = await Promise.all([login, reset(shop, email, code)]);
    if (signedIn.status === 200) {
      const query = { user_id: account.id, token: signedIn.data.token as string };
      const after = await shop.callAnonymously("GET /users/me/two-factor/", { query });
      expect(after.code).toBe(5207);
    } else expect(signedIn.code).toBe(5212);
  });
});

import { beforeAll, expect } from "bun:test";
import { inTransaction } from "../../../src/server/db/transaction.ts";
import { revokeTokens } from "../../../src/server/modules/tokens/service.ts";
import { type Account, goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { readOutbox } from "../../support/mail.ts";
import { onDatabase } from "../../support/suite.ts";

interface Session {
  user_id: string;
  token: string;
  expires_at: string;
}

const request = "POST /users/me/password/";
const good = { current_password: goodPassword, password: otherPassword };

onDatabase("file", (suite) => {
  const { test } = suite;
  let shop: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
  });
  const change = (account: Account, body: unknown = good) => account.call<Session>(request, { body });
  const read = (user_id: string, token: string) =>
    shop.callAnonymously("GET /products/", { query: { user_id, token } });
  const login = async ({ email }: Account, password: string) =>
    (await shop.callAnonymously("POST /auth/login/", { body: { email, password } })).code;

  test("a change of the password returns a new token, ends the old token, and the new password works", async () => {
    const account = await openAccount(shop);
    const { status, data } = await change(account);
    expect(status).toBe(200);
    expect(data).toEqual({
      user_id: account.id,
      token: expect.stringMatching(/^v2\.[A-Za-z0-9_-]{43}$/),
      expires_at: new Date(suite.app.clock.now() + 30 * 86_400_000).toISOString(),
    });
    expect((await read(account.id, account.token)).code).toBe(5207);
    expect((await read(account.id, data.token)).status).toBe(200);
    expect([await login(account, goodPassword), await login(account, otherPassword)]).toEqual([5212, undefined]);
  });

  test("a change of the password causes a mail and an entry in the audit log, without passwords", async (own) => {
    const account = await openAccount(own);
    await account.call(request, { body: { ...good, current_password: otherPassword } });
    await account.call(request, { body: good });
    const mails = await readOutbox(suite.app, own.namespace);
    expect(mails.map(({ kind, to }) => ({ kind, to }))).toEqual([
      { kind: "password_changed", to: { emailKey: account.email } },
    ]);
    const sql =
      "select event, subject, actor_id, code, details from audit_log where namespace = ? and event like 'password%'";
    const { rows } = await suite.app.db.execute({ sql, args: [own.namespace] });
    const by = { subject: account.id, actor_id: account.id };
    expect(rows.map((row) => ({ ...row })) as unknown[]).toEqual([
      { ...by, event: "password.change_failed", code: 5212, details: null },
      { ...by, event: "password.changed", code: null, details: null },
    ]);
  });

  test("a wrong current password, or a weak or invalid new password, changes nothing", async () => {
    const account = await openAccount(shop);
    for (const [body, code, ...fields] of [
      [{ ...good, current_password: `${goodPassword}x` }, 5212],
      [{ password: otherPassword }, 5102, "current_password"],
      [{ current_password: goodPassword }, 5102, "password"],
      [{ ...good, password: "" }, 5217, "password"],
      [{ ...good, password: 1 }, 5102, "password"],
      [{ ...good, password: "Aa1!".repeat(257) }, 5102, "password"],
      [{ ...good, otp: "123456" }, 5102, "otp"],
      [{ current_password: "x", password: "weak" }, 5217, "password"],
    ] as const) {
      const reply = await change(account, body);
      expect({ body, code: reply.code, fields: reply.fields }).toEqual({ body, code, fields: [...fields] });
    }
    expect((await read(account.id, account.token)).status).toBe(200);
    expect(await login(account, goodPassword)).toBeUndefined();
  });

  test("wrong current passwords count as failed logins, and a change of the password resets the count", async () => {
    const account = await openAccount(shop);
    const wrong = { ...good, current_password: otherPassword };
    expect(await login(account, otherPassword)).toBe(5212);
    expect((await change(account, wrong)).code).toBe(5212);
    expect((await change(account, wrong)).code).toBe(5212);
    const refused = await change(account);
    expect([refused.code, refused.headers.get("retry-after")]).toEqual([5213, "1200"]);
    expect(await login(account, goodPassword)).toBe(5213);
    suite.app.clock.advance(20 * 60_000);
    expect((await change(account, wrong)).code).toBe(5212);
    expect((await change(account)).status).toBe(200);
    for (const code of [5212, 5212, 5212, 5213]) expect(await login(account, goodPassword)).toBe(code);
  });

  test("with two-factor enabled, a change of the password does not reset the count of failures, because a reset would allow more tries at codes", async () => {
    const account = await openAccount(shop);
    await account.enrol();
    const body = { email: account.email, password: goodPassword, otp: await account.wrongCode() };
    const guess = async () => (await shop.callAnonymously("POST /auth/login/", { body })).code;
    expect([await guess(), await guess()]).toEqual([5212, 5212]);
    expect((await change(account)).status).toBe(200);
    body.password = otherPassword;
    expect([await guess(), await guess()]).toEqual([5212, 5213]);
  });

  test("of ten concurrent password changes with one token, only one succeeds", async () => {
    const account = await openAccount(shop);
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) => change(account, { ...good, password: `${otherPassword}${n}` })),
    );
    const done = replies.flatMap(({ status }, n) => (status === 200 ? [n] : []));
    expect(done).toHaveLength(1);
    // Calls that were admitted before the change find another token or password.
    for (const { code } of replies) expect([undefined, 5207, 5212, 5213]).toContain(code);
    suite.app.clock.advance(20 * 60_000);
    expect(await login(account, `${otherPassword}${done[0]}`)).toBeUndefined();
  });

  test("a token that is revoked during a change of the password is not replaced", async () => {
    const account = await openAccount(shop);
    const ctx = await tenantContext(shop);
    const [reply] = await Promise.all([change(account), inTransaction(ctx, (tx) => revokeTokens(tx, account.id))]);
    // Tests both orders, because hashing takes much longer than the revocation.
    expect(reply.code).toBe(5207);
    expect(await login(account, goodPassword)).toBeUndefined();
  });
});

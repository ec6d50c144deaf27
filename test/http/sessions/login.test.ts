import { beforeAll, expect } from "bun:test";
import { updateTenant } from "../../../src/server/modules/tenants/service.ts";
import { createUser } from "../../../src/server/modules/users/service.ts";
import { type Account, goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import { type CallOptions, newAddress } from "../../support/client.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

interface Login {
  user_id: string;
  token: string;
  expires_at: string;
  store: Record<string, unknown>;
}

const request = "POST /auth/login/";
/** Logs in, from a new address each time. */
const login = (shop: Shop, body: unknown, more: CallOptions = {}) =>
  shop.callAnonymously<Login>(request, { body, ...more });
const bytesOf = ({ text, requestId }: { text: string; requestId: string }) => text.replace(requestId, "");

onDatabase("file", (suite) => {
  const { test } = suite;
  let shop: Shop;
  let account: Account;
  let good: { email: string; password: string };
  beforeAll(async () => {
    shop = await suite.shop({
      tenant: { title: "Lamps", domain: "lamps.example", logo: "https://lamps.example/l.png" },
    });
    account = await openAccount(shop);
    good = { email: account.email, password: goodPassword };
  });

  test("the reply of a login has the current settings of the store and the current lifetime of tokens", async (own) => {
    const { email } = await openAccount(own);
    await login(own, { email, password: goodPassword });
    await updateTenant(suite.app.system, own.namespace, { title: "Renamed", tokenLifetime: 3600 });
    const { data } = await login(own, { email, password: goodPassword });
    expect(data.store.title).toBe("Renamed");
    expect(data.expires_at).toBe(new Date(suite.app.clock.now() + 3_600_000).toISOString());
  });

  test("a token has the lifetime that the login requested, even after a refresh, but not more than the store allows", async (own) => {
    const { email, id: user_id } = await openAccount(own);
    const expiry = (ms: number) => new Date(suite.app.clock.now() + ms).toISOString();
    const asked = (expires_in: number) => login(own, { email, password: goodPassword, expires_in });
    const { token, expires_at } = (await asked(43_200)).data;
    expect(expires_at).toBe(expiry(43_200_000));
    suite.app.clock.advance(3_600_000);
    const refreshed = await own.callAnonymously<{ token: string; expires_at: string }>("POST /auth/refresh/", {
      query: { user_id, token },
    });
    expect(refreshed.data.expires_at).toBe(expiry(43_200_000));
    suite.app.clock.advance(43_200_000);
    const late = await own.callAnonymously("GET /users/me/", { query: { user_id, token: refreshed.data.token } });
    expect(late.code).toBe(5207);
    expect((await asked(34_560_000)).data.expires_at).toBe(expiry(2_592_000_000));
    expect((await asked(299)).code).toBe(5102);
  });

  test("an email or password that differs in any way gets 5212", async () => {
    for (const change of [
      { email: "nobody@example.com" },
      { email: "not an address" },
      { email: "' or 1=1 --" },
      { password: goodPassword.toLowerCase() },
      { password: `${goodPassword} ` },
      { password: `${goodPassword}\0` },
      { password: "\ud800" },
      { password: otherPassword, otp: "123456" },
    ]) {
      // Each try is for another account, because failures lock an account.
      const { email } = await openAccount(shop);
      const { code } = await login(shop, { email, password: goodPassword, ...change });
      expect({ change, code }).toEqual({ change, code: 5212 });
    }
  });

  test("a field that is empty, too long, unknown or of another type gets 5102 with its name", async () => {
    for (const change of [
      { email: "" },
      { email: "a".repeat(321) },
      { password: "" },
      { password: "a".repeat(1025) },
      { otp: 123456 },
      { otp: "1".repeat(65) },
      { remember: true },
    ]) {
      const { code, fields } = await login(shop, { ...good, ...change });
      expect({ change, code, fields }).toEqual({ change, code: 5102, fields: Object.keys(change) });
    }
  });

  test("a user of another store, a disabled user and a user without a password get the same 5212", async () => {
    const ctx = await tenantContext(shop);
    const foreign = await openAccount(await suite.shop());
    const disabled = await openAccount(shop);
    await ctx.db.execute({ sql: "update users set status = 'disabled' where id = ?", args: [disabled.id] });
    const unset = `unset-${Bun.randomUUIDv7()}@example.com`;
    await createUser(ctx, { email: unset });
    const { email } = await openAccount(shop);
    const guarded = await openAccount(shop);
    await guarded.enrol();
    const password = goodPassword;
    const replies = [
      await login(shop, { email: foreign.email, password }),
      await login(shop, { email: disabled.email, password }),
      await login(shop, { email: unset, password }),
      await login(shop, { email: "nobody-at-all@example.com", password }),
      await login(shop, { email, password: otherPassword }),
      await login(shop, { email: guarded.email, password, otp: await guarded.wrongCode() }),
    ];
    expect(replies.map(({ code }) => code)).toEqual(Array(6).fill(5212));
    expect(new Set(replies.map(bytesOf)).size).toBe(1);
    expect(replies[0]?.text).not.toContain("details");
  });

  test("login ignores credentials, so an old token or a wrong key does not prevent it", async () => {
    const old = { user_id: account.id, token: "v2.old" };
    const sent: CallOptions[] = [
      { query: old },
      { query: { token: "" } },
      { auth: "Bearer a:b" },
      { auth: "Bearer" },
      { query: { app_id: "" } },
      { headers: { origin: "https://elsewhere.example" }, auth: shop.auth },
    ];
    for (const more of sent) expect((await login(shop, good, more)).status).toBe(200);
    expect((await login(shop, { ...good, ...old, app_id: "x" })).status).toBe(200);
    // A page may read this error, as without a key.
    const headers = { origin: "https://elsewhere.example" };
    const refused = await login(shop, good, { headers, auth: shop.auth, namespace: "no-such-store" });
    expect(refused.headers.get("access-control-allow-origin")).toBe("https://elsewhere.example");
  });

  test("a one-time code that is sent again after an enrolment or a login does not count as a failure", async () => {
    const careless = await openAccount(shop);
    await careless.begin();
    const credentials = { email: careless.email, password: goodPassword };
    const enrolment = await careless.code();
    await careless.call("POST /users/me/two-factor/confirm/", { body: { otp: enrolment } });
    for (let n = 0; n < 5; n++) expect((await login(shop, { ...credentials, otp: enrolment })).code).toBe(5212);
    suite.app.clock.advance(30_000);
    const otp = await careless.code();
    expect((await login(shop, { ...credentials, otp })).status).toBe(200);
    for (let n = 0; n < 5; n++) expect((await login(shop, { ...credentials, otp })).code).toBe(5212);
    // With a wrong password, the attempt counts as usual.
    for (const code of [5212, 5212, 5212, 5213]) {
      expect((await login(shop, { ...credentials, password: otherPassword, otp })).code).toBe(code);
    }
  });

  test("an imported password works, and is then stored with Bodega's own kind of hash", async () => {
    const ctx = await tenantContext(shop);
    const email = `imported-${Bun.randomUUIDv7()}@example.com`;
    const imported = await Bun.password.hash(goodPassword, { algorithm: "bcrypt", cost: 4 });
    const { id } = await createUser(ctx, { email, password_hash: imported });
    const kept = async () => {
      const sql = "select password_hash, password_changed_at, version from users where id = ?";
      return (await ctx.db.execute({ sql, args: [id] })).rows[0] as unknown as Record<string, unknown>;
    };
    const before = await kept();
    suite.app.clock.advance(1000);
    expect((await login(shop, { email, password: otherPassword })).code).toBe(5212);
    expect((await kept()).password_hash).toBe(imported);
    const replies = await Promise.all(Array.from({ length: 8 }, () => login(shop, { email, password: goodPassword })));
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const after = await kept();
    expect(after.password_hash).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$");
    expect([after.password_changed_at, after.version]).toEqual([before.password_changed_at, before.version]);
    expect((await login(shop, { email, password: goodPassword })).status).toBe(200);
  });

  test("a sign-in sets the time of the last sign-in in the user's record, and does not change the record's version", async () => {
    const ctx = await tenantContext(shop);
    const { id, email } = await openAccount(shop);
    const read = async () => {
      const sql = "select last_login_at, version from users where id = ?";
      return { ...(await ctx.db.execute({ sql, args: [id] })).rows[0] } as Record<string, unknown>;
    };
    const before = await read();
    expect(before.last_login_at).toBeNull();
    await login(shop, { email, password: otherPassword });
    expect(await read()).toEqual(before);
    await login(shop, { email, password: goodPassword });
    const at = new Date(suite.app.clock.now()).toISOString();
    expect(await read()).toEqual({ ...before, last_login_at: at });
  });

  test("the audit log has sign-ins and failures with user, address and error code, but without the sent values", async (own) => {
    const { id, email } = await openAccount(own);
    const address = newAddress();
    const secret = `${otherPassword}-canary`;
    const first = await login(own, { email, password: secret }, { address });
    await login(own, { email: secret, password: goodPassword }, { address });
    await login(own, { email: "nobody@example.com", password: secret }, { address });
    const last = await login(own, { email, password: goodPassword }, { address });
    const guarded = await openAccount(own);
    await guarded.enrol();
    await login(own, { email: guarded.email, password: goodPassword }, { address });
    const sql = `select event, actor_kind, actor_id, subject, address, request_id, code, details from audit_log
      where namespace = ? and event like 'login.%' order by seq`;
    const { rows } = await suite.app.db.execute({ sql, args: [own.namespace] });
    const failed = { event: "login.failed", actor_kind: "visitor", actor_id: null, address, code: 5212, details: null };
    expect(rows.map((row) => ({ ...row }))).toEqual([
      expect.objectContaining({ ...failed, subject: id, request_id: first.requestId }),
      expect.objectContaining({ ...failed, subject: null }),
      expect.objectContaining({ ...failed, subject: null }),
      expect.objectContaining({
        event: "login.succeeded",
        actor_kind: "user",
        actor_id: id,
        subject: id,
        address,
        request_id: last.requestId,
        code: null,
      }),
      // A login that lacks only its code is not a failure.
      expect.objectContaining({ event: "login.code_required", subject: guarded.id, code: 5211 }),
    ] as never);
    expect(JSON.stringify(rows)).not.toContain("canary");
    expect(JSON.stringify(rows)).not.toContain(last.data.token);
  });
});

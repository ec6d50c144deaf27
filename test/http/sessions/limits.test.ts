import { expect } from "bun:test";
import type { Database } from "../../../src/server/db/session.ts";
import { addressSubject, countHit } from "../../../src/server/modules/rate-limits/service.ts";
import { goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import { startTestApp } from "../../support/app.ts";
import { type CallOptions, createClient, newAddress } from "../../support/client.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { onEachDatabase } from "../../support/suite.ts";

const minute = 60_000;
const request = "POST /auth/login/";

/** Returns the tables that have a row with this text. */
async function tablesWith(db: Database, text: string): Promise<string[]> {
  const { rows: tables } = await db.execute(
    "select name from sqlite_schema where type = 'table' and name not like '%sqlite%' order by name",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await db.execute(`select * from "${name}"`);
    if (JSON.stringify(rows).includes(text)) found.push(String(name));
  }
  return found;
}

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  const login = (shop: Pick<Shop, "callAnonymously">, email: string, password: string, more: CallOptions = {}) =>
    shop.callAnonymously(request, { body: { email, password }, ...more });
  /** Uses up some of the thirty calls of an address, without verifying passwords. */
  const countCalls = async (shop: Shop, address: string, times: number) => {
    const ctx = await tenantContext(shop);
    const subject = addressSubject(ctx.vault, address, ctx.tenant.id);
    const calls = { name: "login-calls", max: 30, windowMs: 20 * minute };
    for (let n = 0; n < times; n++) expect(await countHit(ctx, calls, subject)).toBe(0);
  };
  const count = (codes: unknown[], code: unknown) => codes.filter((one) => one === code).length;

  test("if an address has one of its thirty calls left, only one of several concurrent logins is admitted", async (shop) => {
    const address = newAddress();
    await countCalls(shop, address, 29);
    const accounts = await Promise.all([1, 2, 3, 4].map(() => openAccount(shop)));
    const replies = await Promise.all(accounts.map(({ email }) => login(shop, email, goodPassword, { address })));
    expect(replies.map(({ code, status }) => code ?? status).toSorted()).toEqual([200, 5213, 5213, 5213]);
  });

  test("if many wrong passwords arrive at two processes at once, three get 5212 and the others 5213", async (shop) => {
    const { email } = await openAccount(shop);
    const app = startTestApp({ db: await suite.database.openAgain(), clock: suite.app.clock });
    const elsewhere = { callAnonymously: createClient(app, { namespace: shop.namespace }) };
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => login(n % 2 ? elsewhere : shop, email, otherPassword)),
    );
    const codes = replies.map(({ code }) => code);
    expect([count(codes, 5212), count(codes, 5213)]).toEqual([3, 17]);
    expect((await login(elsewhere, email, goodPassword)).code).toBe(5213);
    await app.stop();
  });

  onFile("if the limits of email and address are both used up, Retry-After is the longer wait", async () => {
    const { clock } = suite.app;
    for (const failuresFirst of [true, false]) {
      const shop = await suite.shop();
      const { email } = await openAccount(shop);
      const address = newAddress();
      const fail = async () => {
        for (let n = 0; n < 3; n++) expect((await login(shop, email, otherPassword)).code).toBe(5212);
      };
      if (failuresFirst) await fail();
      clock.advance(minute);
      await countCalls(shop, address, 30);
      clock.advance(3 * minute);
      if (!failuresFirst) await fail();
      const refused = await login(shop, email, goodPassword, { address });
      // The oldest call was three minutes ago, with four failures or none.
      const seconds = (failuresFirst ? 17 : 20) * 60;
      expect([refused.code, refused.headers.get("retry-after")]).toEqual([5213, String(seconds)]);
      clock.advance(seconds * 1000);
      expect((await login(shop, email, goodPassword, { address })).status).toBe(200);
    }
  });

  test("of many concurrent calls, an address may make ten in a minute; calls for an unknown or suspended store do not count", async () => {
    const [shop, closed] = [await suite.shop(), await suite.shop()];
    await suite.app.db.execute({
      sql: "update tenants set status = 'suspended' where namespace = ?",
      args: [closed.namespace],
    });
    const address = newAddress();
    const call = async (namespace: string) =>
      (await shop.callAnonymously(request, { body: {}, address, namespace })).code;
    const together = (namespace: string) => Promise.all(Array.from({ length: 15 }, () => call(namespace)));
    expect(await together("no-such-store")).toEqual(Array(15).fill(5215));
    expect(await together(closed.namespace)).toEqual(Array(15).fill(5215));
    expect((await together(shop.namespace)).toSorted()).toEqual([...Array(10).fill(5102), ...Array(5).fill(5209)]);
    expect(await call("no-such-store")).toBe(5215);
  });

  onFile("calls of /auth/ routes, even valid ones, and failures on other routes count together", async (shop) => {
    const { id, email, token } = await openAccount(shop);
    const address = newAddress();
    const call = async (what: string, more: CallOptions = {}) =>
      (await shop.callAnonymously(what, { address, ...more })).code;
    const query = { user_id: id, token: "v2.x" };
    expect(await call(request, { body: { email, password: goodPassword } })).toBeUndefined();
    expect(await call("POST /auth/refresh/", { query })).toBe(5214);
    expect(await call("POST /auth/logout/", { query: { token: "v2.x" } })).toBe(5204);
    expect(await call("POST /auth/logout/", { auth: "Bearer a:b" })).toBe(5203);
    expect(await call("POST /auth/logout/", { auth: shop.auth })).toBe(5300);
    expect(await call("POST /auth/password/forgot/", { body: { email } })).toBeUndefined();
    expect(await call("GET /products/", { query })).toBe(5205);
    expect(await call("GET /products/", { query: { user_id: id, token } })).toBe(5207);
    expect(await call("POST /auth/refresh/")).toBe(5206);
    expect(await call(request, { body: {} })).toBe(5102);
    expect(await call(request, { body: { email, password: goodPassword } })).toBe(5209);
    expect(await call("GET /products/", { query })).toBe(5209);
    expect(await call("POST /auth/logout/", { namespace: "no-such-store" })).toBe(5215);
    // Valid app credentials are never blocked.
    expect(await call("GET /products/", { auth: shop.auth })).toBeUndefined();
  });

  onFile("only the audit log contains the IP address of a failed sign-in or a wrong key", async (shop) => {
    const { email } = await openAccount(shop);
    for (const address of [newAddress(), "2001:db8:77:88::99"]) {
      const headers = { "user-agent": "an agent of its own/7.7" };
      for (let n = 0; n < 11; n++) {
        await shop.callAnonymously("POST /auth/login/", { body: { email, password: "wrong" }, address, headers });
      }
      await shop.call("GET /products/", { auth: "Bearer a:b", address, headers });
      expect(await tablesWith(suite.app.db, address)).toEqual(["audit_log"]);
      expect(await tablesWith(suite.app.db, address.replace("::99", ""))).toEqual(["audit_log"]);
      expect(await tablesWith(suite.app.db, "an agent of its own")).toEqual([]);
    }
  });
});

import { expect, test } from "bun:test";
import { addressSubject, countHit } from "../../../src/server/modules/rate-limits/service.ts";
import { goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import { startTestApp } from "../../support/app.ts";
import { type CallOptions, createClient, newAddress } from "../../support/client.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { onEachDatabase } from "../../support/suite.ts";

const minute = 60_000;
const request = "POST /auth/login/";

onEachDatabase((suite) => {
  const login = (shop: Pick<Shop, "callAnonymously">, email: string, password: string, more: CallOptions = {}) =>
    shop.callAnonymously(request, { body: { email, password }, address: newAddress(), ...more });
  /** Counts some of an address's thirty calls, without verifying passwords. */
  const countCalls = async (shop: Shop, address: string, times: number) => {
    const ctx = await tenantContext(shop);
    const subject = addressSubject(ctx.vault, address, ctx.tenant.id);
    const calls = { name: "login-calls", max: 30, windowMs: 20 * minute };
    for (let n = 0; n < times; n++) expect(await countHit(ctx, calls, subject)).toBe(0);
  };
  const count = (codes: unknown[], code: unknown) => codes.filter((one) => one === code).length;

  test("of concurrent valid logins for the last of an address's thirty calls, one is admitted", async () => {
    const shop = await suite.shop();
    const address = newAddress();
    await countCalls(shop, address, 29);
    const accounts = await Promise.all([1, 2, 3, 4].map(() => openAccount(shop)));
    const replies = await Promise.all(accounts.map(({ email }) => login(shop, email, goodPassword, { address })));
    expect(replies.map(({ code, status }) => code ?? status).toSorted()).toEqual([200, 5213, 5213, 5213]);
  });

  test("the fourth wrong password in 20 minutes is 5213 from any address, and then so is the right one", async () => {
    const { clock } = suite.app;
    const shop = await suite.shop();
    const { email } = await openAccount(shop);
    for (let n = 0; n < 3; n++) {
      expect((await login(shop, email, otherPassword)).code).toBe(5212);
      clock.advance(minute);
    }
    const refused = await login(shop, email.toUpperCase(), otherPassword);
    expect([refused.code, refused.status, refused.headers.get("retry-after")]).toEqual([5213, 429, "1020"]);
    expect((await login(shop, email, goodPassword)).code).toBe(5213);
    clock.advance(1_019_000);
    const early = await login(shop, email, goodPassword);
    expect([early.code, early.headers.get("retry-after")]).toEqual([5213, "1"]);
    clock.advance(1000);
    expect((await login(shop, email, goodPassword)).status).toBe(200);
  });

  suite.testOnFile("unknown and invalid addresses count in the same way, with the same bytes", async () => {
    const shop = await suite.shop();
    const { email } = await openAccount(shop);
    const texts = new Set<string>();
    for (const name of [email, "nobody@example.com", "no address"]) {
      const replies = [];
      for (let n = 0; n < 4; n++) replies.push(await login(shop, name, otherPassword));
      expect(replies.map(({ code }) => code)).toEqual([5212, 5212, 5212, 5213]);
      texts.add(replies.map(({ text, requestId }) => text.replace(requestId, "")).join());
    }
    expect(texts.size).toBe(1);
    // Case and surrounding spaces do not matter.
    expect((await login(shop, " NoBody@Example.COM", otherPassword)).code).toBe(5213);
    expect((await login(shop, "NO ADDRESS", otherPassword)).code).toBe(5213);
  });

  suite.testOnFile("a success resets the failures, and each store has its own count", async () => {
    const [shop, other] = [await suite.shop(), await suite.shop()];
    const { email } = await openAccount(shop);
    await openAccount(other, { email });
    for (let n = 0; n < 2; n++) await login(shop, email, otherPassword);
    expect((await login(shop, email, goodPassword)).status).toBe(200);
    for (const code of [5212, 5212, 5212, 5213]) expect((await login(shop, email, otherPassword)).code).toBe(code);
    expect((await login(other, email, goodPassword)).status).toBe(200);
  });

  /** Each verifies a password; with a database server fewer are enough. */
  const crowdSize = () => (suite.app.db.kind === "file" ? 50 : 20);

  test("of many concurrent wrong passwords from many addresses, three are 5212", async () => {
    const shop = await suite.shop();
    const { email } = await openAccount(shop);
    const length = crowdSize();
    const replies = await Promise.all(Array.from({ length }, () => login(shop, email, otherPassword)));
    const codes = replies.map(({ code }) => code);
    expect([count(codes, 5212), count(codes, 5213)]).toEqual([3, length - 3]);
  });

  test("of many concurrent wrong passwords through two processes, three are 5212", async () => {
    const shop = await suite.shop();
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

  test("with concurrent wrong passwords, at most three failures come before the right one", async () => {
    const shop = await suite.shop();
    const { email } = await openAccount(shop);
    const [length, middle] = [crowdSize(), crowdSize() / 2];
    const replies = await Promise.all(
      Array.from({ length }, (_, n) => login(shop, email, n === middle ? goodPassword : otherPassword)),
    );
    const codes = replies.map(({ code }) => code);
    // If it succeeded, it reset earlier failures, so three more could follow.
    const right = codes[middle];
    expect([undefined, 5213]).toContain(right);
    expect(count(codes, 5212)).toBeLessThanOrEqual(right === undefined ? 5 : 3);
    expect(count(codes, 5212) + count(codes, 5213) + count(codes, undefined)).toBe(length);
  });

  test("concurrent valid logins all succeed, and one token is active at the end", async () => {
    const shop = await suite.shop();
    const { id, email } = await openAccount(shop);
    const length = crowdSize();
    const replies = await Promise.all(Array.from({ length }, () => login(shop, email, goodPassword)));
    expect(replies.map(({ status }) => status)).toEqual(Array(length).fill(200));
    const codes = await Promise.all(
      replies.map(async ({ data }) => {
        const query = { user_id: id, token: data.token as string };
        return (await shop.callAnonymously("GET /products/", { query, address: newAddress() })).code;
      }),
    );
    expect([count(codes, undefined), count(codes, 5207)]).toEqual([1, length - 1]);
  });

  test("concurrent valid logins through two processes succeed, and one token is active at the end", async () => {
    const shop = await suite.shop();
    const { email } = await openAccount(shop);
    const app = startTestApp({ db: await suite.database.openAgain(), clock: suite.app.clock });
    const elsewhere = { callAnonymously: createClient(app, { namespace: shop.namespace }) };
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, n) => login(n % 2 ? elsewhere : shop, email, goodPassword)),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(16).fill(200));
    await app.stop();
  });

  suite.testOnFile(
    "the 31st login of an address in 20 minutes is 5213 for any email, until the first is 20 minutes old",
    async () => {
      const { clock } = suite.app;
      const [shop, other] = [await suite.shop(), await suite.shop()];
      const { email } = await openAccount(shop);
      const address = newAddress();
      const start = clock.now();
      for (let n = 0; n < 30; n++) {
        if (n > 0 && n % 10 === 0) clock.advance(minute);
        const good = n % 3 === 0;
        const reply = await login(shop, good ? email : `nobody-${n}@example.com`, goodPassword, { address });
        expect(reply.code).toBe(good ? undefined : 5212);
      }
      clock.advance(minute);
      const seconds = (start + 20 * minute - clock.now()) / 1000;
      const refused = await login(shop, email, goodPassword, { address });
      expect([refused.code, refused.headers.get("retry-after")]).toEqual([5213, String(seconds)]);
      // The count is per address and store.
      expect((await login(shop, email, goodPassword)).status).toBe(200);
      expect((await login(other, "nobody@example.com", goodPassword, { address })).code).toBe(5212);
      clock.advance((seconds - 1) * 1000);
      expect((await login(shop, email, goodPassword, { address })).headers.get("retry-after")).toBe("1");
      clock.advance(1000);
      expect((await login(shop, email, goodPassword, { address })).status).toBe(200);
    },
  );

  suite.testOnFile(
    "Retry-After is the longer wait when both the email's failures and the address's calls are used up",
    async () => {
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
        // The oldest call is three minutes old; the failures are four, or none.
        const seconds = (failuresFirst ? 17 : 20) * 60;
        expect([refused.code, refused.headers.get("retry-after")]).toEqual([5213, String(seconds)]);
        clock.advance(seconds * 1000);
        expect((await login(shop, email, goodPassword, { address })).status).toBe(200);
      }
    },
  );

  suite.testOnFile(
    "Retry-After of the account's failures is used when it exceeds the wait of the address's calls",
    async () => {
      const { clock } = suite.app;
      const shop = await suite.shop();
      const { email } = await openAccount(shop);
      for (let n = 0; n < 3; n++) await login(shop, email, otherPassword);
      const address = newAddress();
      clock.advance(minute);
      await countCalls(shop, address, 29);
      clock.advance(3 * minute);
      const refused = await login(shop, email, goodPassword, { address });
      expect([refused.code, refused.headers.get("retry-after")]).toEqual([5213, String(17 * 60)]);
      clock.advance(17 * minute);
      expect((await login(shop, email, goodPassword, { address })).status).toBe(200);
    },
  );

  suite.testOnFile("IPv6 addresses of one /64 share their thirty logins", async () => {
    const shop = await suite.shop();
    const net = `2001:db8:${(Math.random() * 0xffff + 1) | 0}`.replace(/\d+$/, (n) => Number(n).toString(16));
    await countCalls(shop, `${net}:1::ffff`, 28);
    const codes: unknown[] = [];
    for (let n = 0; n < 3; n++) {
      codes.push((await login(shop, `nobody-${n}@example.com`, "x", { address: `${net}:1::${n + 1}` })).code);
    }
    expect(codes).toEqual([5212, 5212, 5213]);
  });

  test("of concurrent calls of one address ten a minute are admitted, and those for an unknown or suspended store do not count", async () => {
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

  for (const path of ["login", "refresh", "logout", "password/forgot", "password/reset"]) {
    suite.testOnFile(`the eleventh call of /auth/${path}/ in a minute is 5209, and Retry-After is exact`, async () => {
      const { clock } = suite.app;
      const shop = await suite.shop();
      const address = newAddress();
      // With any credentials and any X-Forwarded-For.
      const call = () =>
        shop.callAnonymously(`POST /auth/${path}/`, { address, headers: { "x-forwarded-for": newAddress() } });
      for (let n = 0; n < 10; n++) {
        expect((await call()).code).not.toBe(5209);
        clock.advance(1500);
      }
      const refused = await call();
      expect([refused.code, refused.status, refused.headers.get("retry-after")]).toEqual([5209, 429, "45"]);
      clock.advance(44_000);
      expect((await call()).headers.get("retry-after")).toBe("1");
      clock.advance(1000);
      expect((await call()).code).not.toBe(5209);
    });
  }

  suite.testOnFile(
    "calls of all /auth/ routes and failures elsewhere share the ten, each counts once, even valid ones",
    async () => {
      const shop = await suite.shop();
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
      // Valid credentials are never blocked.
      expect(await call("GET /products/", { auth: shop.auth })).toBeUndefined();
    },
  );
});

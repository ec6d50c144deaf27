import { afterEach, expect, spyOn } from "bun:test";
import { availableParallelism } from "node:os";
import { hashing } from "../../../src/server/modules/passwords/password-hash.ts";
import { createUser } from "../../../src/server/modules/users/service.ts";
import { goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { requestCode, reset } from "../../support/password-reset.ts";
import { onDatabase } from "../../support/suite.ts";
import { until } from "../../support/until.ts";

const ownKind = "$argon2id$v=19$m=19456,t=2,p=1$";
const argon2Kind = "$argon2id$v=19$m=64,t=1,p=1$";
const argon2 = `${argon2Kind}c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc`;
const kindOf = (hash: string) => (hash.startsWith("$2") ? hash.slice(0, 7) : hash.slice(0, hash.indexOf(",p=") + 5));

onDatabase("file", (suite) => {
  const { test } = suite;
  afterEach(() =>
    Object.assign(hashing.limits, { permits: availableParallelism(), maxWaiting: 128, maxWaitMs: 10_000 }),
  );

  test("if one store fills the queue for hashing, the logins of another store are neither refused nor delayed", async () => {
    const [busy, calm] = [await suite.shop(), await suite.shop()];
    const { email } = await openAccount(calm);
    Object.assign(hashing.limits, { permits: 1, maxWaiting: 8 });
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const first = hashing.run(() => held);
    const order: (number | undefined)[] = [];
    const floods = Array.from({ length: 20 }, async (_, n) => {
      const body = { email: `user-${n}@example.com`, password: goodPassword };
      order.push((await busy.call("POST /users/", { body })).code);
    });
    await until("all others are refused", () => order.length === 12);
    expect(new Set(order)).toEqual(new Set([5001]));
    const body = { email, password: goodPassword };
    const login = calm.callAnonymously("POST /auth/login/", { body });
    await until("the login takes a place", () => order.length === 13);
    release();
    expect((await login).status).toBe(200);
    // One login of the other store may come first.
    expect(order.length - 13).toBeLessThanOrEqual(2);
    await Promise.all([first, ...floods]);
    expect(order.slice(13)).toEqual(Array(7).fill(undefined));
  });

  test("a login that waits too long for its turn is refused, and its password is never hashed", async (shop) => {
    Object.assign(hashing.limits, { permits: 1, maxWaitMs: 20 });
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const first = hashing.run(() => held);
    const verify = spyOn(Bun.password, "verify");
    const body = { email: "nobody@example.com", password: goodPassword };
    const refused = await shop.callAnonymously("POST /auth/login/", { body });
    expect(refused).toMatchObject({ status: 503, code: 5001 });
    release();
    await first;
    await until("nothing is hashed", () => hashing.isIdle);
    expect(verify).not.toHaveBeenCalled();
    verify.mockRestore();
  });

  test("every request that hashes a password waits for the turn of its store", async (shop) => {
    const { tenant, ...ctx } = await tenantContext(shop);
    const [user, changed] = [await openAccount(shop), await openAccount(shop)];
    const imported = await Bun.password.hash(goodPassword, { algorithm: "bcrypt", cost: 4 });
    await createUser({ ...ctx, tenant }, { email: "imported@example.com", password_hash: imported });
    const login = (email: string, password: string) =>
      shop.callAnonymously("POST /auth/login/", { body: { email, password } });
    const code = await requestCode(shop, user.email);
    const run = spyOn(hashing, "run");
    for (const call of [
      () => login(user.email, goodPassword),
      // A login of an unknown user verifies one hash of each kind.
      () => login("nobody@example.com", goodPassword),
      // The sign-in of an imported user renews the hash.
      () => login("imported@example.com", goodPassword),
      () => shop.call("POST /users/", { body: { email: "new@example.com", password: goodPassword } }),
      () => changed.begin(),
      () => changed.call("PATCH /users/me/", { body: { email: "changed@example.com", password: goodPassword } }),
      () =>
        changed.call("POST /users/me/password/", { body: { current_password: goodPassword, password: otherPassword } }),
      () => reset(shop, user.email, code),
    ]) {
      run.mockClear();
      await call();
      const parties = run.mock.calls.map(([, party]) => party);
      expect([call.toString(), new Set(parties)]).toEqual([call.toString(), new Set([tenant.id])]);
    }
    run.mockRestore();
  });

  const login = (shop: Shop, body: Record<string, unknown>) => shop.callAnonymously("POST /auth/login/", { body });

  /** Returns the kinds of hashes that Bun verifies during `work`, sorted. */
  async function verifiedBy(work: () => Promise<unknown>): Promise<string[]> {
    const verify = spyOn(Bun.password, "verify");
    try {
      await work();
      return verify.mock.calls.map(([, hash]) => kindOf(String(hash))).toSorted();
    } finally {
      verify.mockRestore();
    }
  }

  async function importUser(shop: Shop, hash: string): Promise<string> {
    const email = `imported-${Bun.randomUUIDv7()}@example.com`;
    await createUser(await tenantContext(shop), { email, password_hash: hash });
    return email;
  }
  const bcryptOf = (cost: number) => Bun.password.hash(goodPassword, { algorithm: "bcrypt", cost });

  test("a refused sign-in verifies one hash, and takes the same time for imported and other passwords", async (shop) => {
    const ctx = await tenantContext(shop);
    const imported = [await importUser(shop, await bcryptOf(4)), await importUser(shop, argon2)];
    const disabled = await importUser(shop, await bcryptOf(5));
    await ctx.db.execute({ sql: "update users set status = 'disabled' where email = ?", args: [disabled] });
    const [own, guarded] = [await openAccount(shop), await openAccount(shop)];
    await guarded.enrol();
    const password = otherPassword;
    const refused: Record<string, unknown>[] = [
      ...[...imported, own.email, disabled, "nobody@example.com", "no address"].map((email) => ({ email, password })),
      { email: disabled, password: goodPassword },
      { email: guarded.email, password: goodPassword, otp: await guarded.wrongCode() },
    ];
    await Promise.all(
      refused.map(async (body) => {
        const begun = performance.now();
        expect((await login(shop, body)).code).toBe(5212);
        expect([body, performance.now() - begun >= 490]).toEqual([body, true]);
      }),
    );
    expect(await verifiedBy(() => login(shop, { email: imported[0], password }))).toEqual(["$2b$04$"]);
    const elsewhere = await suite.shop();
    const { email } = await openAccount(elsewhere);
    for (const name of [email, "nobody@example.com"]) {
      expect(await verifiedBy(() => login(elsewhere, { email: name, password }))).toEqual([ownKind]);
    }
  });

  test("a sign-in that succeeds, or requires the one-time code, verifies only the user's own hash", async (shop) => {
    const email = await importUser(shop, await bcryptOf(4));
    const [own, guarded] = [await openAccount(shop), await openAccount(shop)];
    await guarded.enrol();
    const good = async (name: string, code?: number) =>
      expect((await login(shop, { email: name, password: goodPassword })).code).toBe(code);
    expect(await verifiedBy(() => good(own.email))).toEqual([ownKind]);
    expect(await verifiedBy(() => good(guarded.email, 5211))).toEqual([ownKind]);
    expect(await verifiedBy(() => good(email))).toEqual(["$2b$04$"]);
  });

  const malformed = [`$2b$04$${"A".repeat(53)}`, `${ownKind}${"A".repeat(21)}B$${"A".repeat(43)}`];
  test.each(malformed)(
    "a stored hash such as %s counts as a wrong password, and the log names its user",
    async (hash) => {
      const shop = await suite.shop();
      const { db, tenant } = await tenantContext(shop);
      const email = await importUser(shop, await bcryptOf(4));
      await db.execute({ sql: "update users set password_hash = ? where email = ?", args: [hash, email] });
      const args = [tenant.id];
      const [user] = (await db.execute({ sql: "select id from users where tenant_id = ?", args })).rows;
      const kinds = await verifiedBy(async () => {
        const reply = await login(shop, { email, password: goodPassword });
        expect(reply.code).toBe(5212);
        const entry = suite.app.entries.find(({ request_id }) => request_id === reply.requestId);
        expect(entry?.fault).toContain(`password hash of ${user?.id} is malformed`);
        expect(JSON.stringify(entry)).not.toContain(hash);
      });
      expect(kinds).toEqual([kindOf(hash)]);
    },
  );
});

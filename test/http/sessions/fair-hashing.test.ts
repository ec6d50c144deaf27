import { afterEach, expect, spyOn } from "bun:test";
import { availableParallelism } from "node:os";
import { hashing } from "../../../src/server/modules/passwords/password-hash.ts";
import { createUser } from "../../../src/server/modules/users/service.ts";
import { goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import { newAddress } from "../../support/client.ts";
import { tenantContext } from "../../support/factories.ts";
import { requestCode, reset } from "../../support/password-reset.ts";
import { onDatabase } from "../../support/suite.ts";
import { until } from "../../support/until.ts";

onDatabase("file", (suite) => {
  const { test } = suite;
  afterEach(() =>
    Object.assign(hashing.limits, { permits: availableParallelism(), maxWaiting: 128, maxWaitMs: 10_000 }),
  );

  test("a store that fills the queue with passwords does not refuse or delay the logins of another", async () => {
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
    const login = calm.callAnonymously("POST /auth/login/", { body, address: newAddress() });
    await until("the login takes a place", () => order.length === 13);
    release();
    expect((await login).status).toBe(200);
    // One of the other store may have come before it.
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
    const refused = await shop.callAnonymously("POST /auth/login/", { body, address: newAddress() });
    expect(refused).toMatchObject({ status: 503, code: 5001 });
    release();
    await first;
    await until("nothing is hashed", () => hashing.isIdle);
    expect(verify).not.toHaveBeenCalled();
    verify.mockRestore();
  });

  test("every request that hashes a password takes the turn of its store", async (shop) => {
    const { tenant, ...ctx } = await tenantContext(shop);
    const [user, changed] = [await openAccount(shop), await openAccount(shop)];
    const imported = await Bun.password.hash(goodPassword, { algorithm: "bcrypt", cost: 4 });
    await createUser({ ...ctx, tenant }, { email: "imported@example.com", password_hash: imported });
    const login = (email: string, password: string) =>
      shop.callAnonymously("POST /auth/login/", { body: { email, password }, address: newAddress() });
    const code = await requestCode(shop, user.email);
    const run = spyOn(hashing, "run");
    for (const call of [
      () => login(user.email, goodPassword),
      // Verifies one hash of each kind.
      () => login("nobody@example.com", goodPassword),
      // Renews the hash.
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
});

import { expect, spyOn } from "bun:test";
import { createUser } from "../../../src/server/modules/users/service.ts";
import { goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import { newAddress } from "../../support/client.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const ownKind = "$argon2id$v=19$m=19456,t=2,p=1$";
const argon2Kind = "$argon2id$v=19$m=64,t=1,p=1$";
const argon2 = `${argon2Kind}c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc`;
const kindOf = (hash: string) => (hash.startsWith("$2") ? hash.slice(0, 7) : hash.slice(0, hash.indexOf(",p=") + 5));

onDatabase("file", (suite) => {
  const { test } = suite;
  const login = (shop: Shop, body: Record<string, unknown>) =>
    shop.callAnonymously("POST /auth/login/", { body, address: newAddress() });

  /** The kinds of hashes that Bun verifies during the work, sorted. */
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

  test("a refused sign-in verifies one hash, and takes as long for an imported password as for any other", async (shop) => {
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
  });

  test("a sign-in that succeeds, or requires the code, verifies only the user's own hash", async (shop) => {
    const email = await importUser(shop, await bcryptOf(4));
    const [own, guarded] = [await openAccount(shop), await openAccount(shop)];
    await guarded.enrol();
    const good = async (name: string, code?: number) =>
      expect((await login(shop, { email: name, password: goodPassword })).code).toBe(code);
    expect(await verifiedBy(() => good(own.email))).toEqual([ownKind]);
    expect(await verifiedBy(() => good(guarded.email, 5211))).toEqual([ownKind]);
    expect(await verifiedBy(() => good(email))).toEqual(["$2b$04$"]);
  });

  test("a store without imported passwords verifies one hash, even if others have some", async () => {
    const [shop, elsewhere] = [await suite.shop(), await suite.shop()];
    const { email } = await openAccount(shop);
    await importUser(elsewhere, await bcryptOf(4));
    for (const name of [email, "nobody@example.com"]) {
      expect(await verifiedBy(() => login(shop, { email: name, password: otherPassword }))).toEqual([ownKind]);
    }
  });

  const malformed = [`$2b$04$${"A".repeat(53)}`, `${ownKind}${"A".repeat(21)}B$${"A".repeat(43)}`];
  test.each(malformed)("a stored hash like %s counts as a wrong password, and the log names its user", async (hash) => {
    const shop = await suite.shop();
    const { db, tenant } = await tenantContext(shop);
    const email = await importUser(shop, await bcryptOf(4));
    await db.execute({ sql: "update users set password_hash = ? where email = ?", args: [hash, email] });
    const args = [tenant.id];
    const [user] = (await db.execute({ sql: "select id from users where tenant_id = ?", args })).rows;
    for (const code of [5212, 5212, 5212, 5213]) {
      const kinds = await verifiedBy(async () => {
        const reply = await login(shop, { email, password: goodPassword });
        expect(reply.code).toBe(code);
        const entry = suite.app.entries.find(({ request_id }) => request_id === reply.requestId);
        expect(entry?.fault ?? "").toContain(code === 5212 ? `password hash of ${user?.id} is malformed` : "");
        expect(JSON.stringify(entry)).not.toContain(hash);
      });
      expect(kinds).toEqual(code === 5212 ? [kindOf(hash)] : []);
    }
  });
});

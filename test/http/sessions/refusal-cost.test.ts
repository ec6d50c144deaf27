import { expect, spyOn, test } from "bun:test";
import { availableParallelism } from "node:os";
import { bind } from "../../../src/server/db/statement.ts";
import { hashing } from "../../../src/server/modules/passwords/password-hash.ts";
import { selectKinds } from "../../../src/server/modules/users/credentials.ts";
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

  test("every refused sign-in of a store verifies one hash of each imported kind, for any address", async () => {
    const shop = await suite.shop();
    const ctx = await tenantContext(shop);
    const [four, five] = [await bcryptOf(4), await bcryptOf(5)];
    const imported = [await importUser(shop, four), await importUser(shop, five), await importUser(shop, argon2)];
    // Further hashes of the same kind change nothing.
    await importUser(shop, await bcryptOf(4));
    const disabled = await importUser(shop, four);
    await ctx.db.execute({ sql: "update users set status = 'disabled' where email = ?", args: [disabled] });
    const unset = `unset-${Bun.randomUUIDv7()}@example.com`;
    await createUser(ctx, { email: unset });
    const [own, guarded] = [await openAccount(shop), await openAccount(shop)];
    await guarded.enrol();
    const password = otherPassword;
    const refused: Record<string, unknown>[] = [
      ...[...imported, own.email, guarded.email, disabled, unset].map((email) => ({ email, password })),
      { email: disabled, password: goodPassword },
      { email: "nobody-at-all@example.com", password },
      { email: "no address", password },
      { email: guarded.email, password: goodPassword, otp: await guarded.wrongCode() },
    ];
    for (const body of refused) {
      const kinds = await verifiedBy(async () => expect((await login(shop, body)).code).toBe(5212));
      expect([body, kinds]).toEqual([body, ["$2b$04$", "$2b$05$", ownKind, argon2Kind].toSorted()]);
    }
  });

  test("where the most expensive kinds are stored that a store accepts, every refused sign-in verifies all of them", async () => {
    const shop = await suite.shop();
    const ctx = await tenantContext(shop);
    const lanes = argon2.replace("m=64,t=1,p=1", "m=65536,t=3,p=8");
    const bcrypt10 = await bcryptOf(10);
    const [cheap, dear, many] = [
      await importUser(shop, await bcryptOf(4)),
      await importUser(shop, bcrypt10),
      await importUser(shop, lanes),
    ];
    // Another variant of bcrypt costs the same.
    const variant = await importUser(shop, bcrypt10.replace("$2b$", "$2y$"));
    const [email, password] = ["dearest@example.com", otherPassword];
    for (const hash of [bcrypt10.replace("$10$", "$12$"), lanes.replace("p=8", "p=1")]) {
      const refused = await shop.call("POST /users/", { body: { email, password_hash: hash } });
      expect([refused.code, refused.fields]).toEqual([5102, ["password_hash"]]);
    }
    expect((await createUser(ctx, { email })).email).toBe(email);
    const own = await openAccount(shop);
    const shared = (kinds: string[]) => kinds.map((kind) => kind.replace("$2y$", "$2b$"));
    for (const of of [cheap, dear, many, variant, own.email, email, "nobody@example.com"]) {
      const kinds = await verifiedBy(async () => expect((await login(shop, { email: of, password })).code).toBe(5212));
      expect([of, shared(kinds)]).toEqual([of, ["$2b$04$", "$2b$10$", ownKind, kindOf(lanes)].toSorted()]);
    }
  });

  test("a sign-in that succeeds, or requires the code, verifies only the user's own hash", async () => {
    const shop = await suite.shop();
    const [email, other] = [await importUser(shop, await bcryptOf(4)), await importUser(shop, await bcryptOf(4))];
    const [own, guarded] = [await openAccount(shop), await openAccount(shop)];
    await guarded.enrol();
    const good = async (name: string, code?: number) =>
      expect((await login(shop, { email: name, password: goodPassword })).code).toBe(code);
    expect(await verifiedBy(() => good(own.email))).toEqual([ownKind]);
    expect(await verifiedBy(() => good(guarded.email, 5211))).toEqual([ownKind]);
    expect(await verifiedBy(() => good(email))).toEqual(["$2b$04$"]);
    const wrong = () => login(shop, { email, password: otherPassword });
    expect(await verifiedBy(wrong)).toEqual(["$2b$04$", ownKind]);
    // Without its last hash a kind is no longer verified.
    await good(other);
    expect(await verifiedBy(wrong)).toEqual([ownKind]);
  });

  test("a store without imported passwords verifies one hash, even if others have some", async () => {
    const [shop, elsewhere] = [await suite.shop(), await suite.shop()];
    const { email } = await openAccount(shop);
    await importUser(elsewhere, await bcryptOf(4));
    for (const name of [email, "nobody@example.com"]) {
      expect(await verifiedBy(() => login(shop, { email: name, password: otherPassword }))).toEqual([ownKind]);
    }
  });

  test("a wrong password without capacity for further hashes is still 5212, and counts", async () => {
    const shop = await suite.shop();
    const { email } = await openAccount(shop);
    await importUser(shop, await bcryptOf(4));
    const { verify } = Bun.password;
    for (const code of [5212, 5212, 5212, 5213]) {
      Object.assign(hashing.limits, { permits: 1 });
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      let verified = 0;
      const spy = spyOn(Bun.password, "verify").mockImplementation((password, hash) => {
        verified += 1;
        // The next waiter gets the permit, and keeps it.
        void hashing.run(() => held);
        Object.assign(hashing.limits, { maxWaiting: 0 });
        return verify(password, hash);
      });
      expect((await login(shop, { email, password: otherPassword })).code).toBe(code);
      expect(verified).toBe(code === 5212 ? 1 : 0);
      spy.mockRestore();
      release();
      Object.assign(hashing.limits, { permits: availableParallelism(), maxWaiting: 128 });
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
      // The decoy takes the time of the hash.
      expect(kinds).toEqual(
        code === 5212 ? [kindOf(hash), kindOf(hash), ownKind].slice(hash === malformed[1] ? 1 : 0) : [],
      );
    }
  });

  test("the kinds are found with one step each in the index of imported passwords", async () => {
    const shop = await suite.shop();
    const { db, tenant } = await tenantContext(shop);
    for (const hash of [argon2, await bcryptOf(4), await bcryptOf(4), await bcryptOf(5)]) await importUser(shop, hash);
    await openAccount(shop);
    const query = bind(selectKinds, { tenantId: tenant.id }) as { sql: string; args: string[] };
    const { rows } = await db.execute(query);
    expect(rows.map((row) => row.kind)).toEqual(["$2b$04$", "$2b$05$", argon2Kind]);
    // The engine leaves a snapshot open behind an EXPLAIN, in which the next test would read old rows.
    const other = await suite.database.openAgain();
    const plan = await other.execute({ ...query, sql: `explain query plan ${query.sql}` });
    const steps = plan.rows.map((row) => String(row.detail)).filter((detail) => detail.includes("users"));
    expect(steps).toEqual([
      "SEARCH users USING COVERING INDEX users_imported (tenant_id=?)",
      "SEARCH users USING COVERING INDEX users_imported (tenant_id=? AND password_hash>?)",
    ]);
  });
});

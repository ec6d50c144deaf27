import { beforeAll, expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import { changePasswordHash, renewPasswordHash } from "../../src/server/modules/users/credentials.ts";
import { createUser, deleteUser, getUser, setPassword, updateUser } from "../../src/server/modules/users/service.ts";
import { goodPassword, openAccount, otherPassword } from "../support/account.ts";
import { type Shop, tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { onDatabase } from "../support/suite.ts";
import { readAudit } from "../support/users.ts";

onDatabase("file", (suite) => {
  let shop: Shop;
  let ctx: Ctx;
  let numbers = 0;
  beforeAll(async () => {
    shop = await suite.shop();
    ctx = await tenantContext(shop);
  });
  const make = (fields: Partial<Parameters<typeof createUser>[1]> = {}) => {
    numbers += 1;
    return createUser(ctx, { email: `person-${numbers}@example.com`, ...fields });
  };

  test("the user service validates values that no schema has checked", async () => {
    const user = await make();
    for (const [field, input] of [
      ["email", { email: "ada" }],
      ["name", { name: "a\0" }],
      ["phone", { phone: "x" }],
      ["lang", { lang: "x y" }],
      ["addresses.0.line1", { addresses: [{ line1: "", city: "x", country: "PT" }] }],
      ["metadata", { metadata: { a: Number.NaN } }],
    ] as const) {
      for (const work of [
        () => createUser(ctx, { email: "checked@example.com", ...input } as never),
        () => updateUser(ctx, user.id, input as never, null),
      ]) {
        expect(await failureOf(work)).toMatchObject({ code: 5102, details: [{ field }] });
      }
    }
    expect(await failureOf(createUser(ctx, {} as never))).toMatchObject({ code: 5102, details: [{ field: "email" }] });
    expect(await getUser(ctx, user.id)).toEqual(user);
  });

  test("a new password ends the session, resets the failures, and makes the old password invalid", async () => {
    const account = await openAccount(shop);
    const login = (password: string) =>
      shop.callAnonymously("POST /auth/login/", { body: { email: account.email, password } });
    for (let n = 0; n < 3; n++) await login("wrong");
    expect((await login(goodPassword)).code).toBe(5213);
    const { version } = await getUser(ctx, account.id);
    await setPassword(ctx, account.id, otherPassword);
    expect((await account.call("GET /users/me/")).code).toBe(5207);
    expect((await login(goodPassword)).code).toBe(5212);
    expect((await login(otherPassword)).status).toBe(200);
    expect((await getUser(ctx, account.id)).version).toBe(version);
    const events = (await readAudit(shop)).filter(({ subject }) => subject === account.id).map(({ event }) => event);
    expect(events).toContain("password.changed");
  });

  test("a renewed hash replaces only the hash that was verified, and does not count as a new password", async () => {
    const { id } = await make();
    const stored = async () => {
      const sql = "select password_hash as hash, password_changed_at as at from users where id = ?";
      return { ...(await ctx.db.execute({ sql, args: [id] })).rows[0] };
    };
    await inTransaction(ctx, (tx) => changePasswordHash(tx, id, "one"));
    const at = new Date(ctx.now()).toISOString();
    suite.app.clock.advance(1000);
    await renewPasswordHash(ctx, id, "another", "two");
    expect(await stored()).toEqual({ hash: "one", at });
    await renewPasswordHash(ctx, id, "one", "two");
    expect(await stored()).toEqual({ hash: "two", at });
    expect((await getUser(ctx, id)).version).toBe(1);
  });

  test("when a user is deleted, the tokens are kept as ended, and the second factor is deleted", async () => {
    const account = await openAccount(shop);
    await account.enrol();
    const count = async (table: string) => {
      const { rows } = await ctx.db.execute({
        sql: `select count(*) as n from ${table} where user_id = ?`,
        args: [account.id],
      });
      return Number(rows[0]?.n);
    };
    expect((await getUser(ctx, account.id)).two_factor_enabled).toBe(true);
    await deleteUser(ctx, account.id, null);
    expect([await count("user_tokens"), await count("two_factor"), await count("recovery_codes")]).toEqual([1, 0, 0]);
    const { rows } = await ctx.db.execute({
      sql: "select ended_as from user_tokens where user_id = ?",
      args: [account.id],
    });
    expect(rows[0]?.ended_as).toBe("revoked");
  });
});

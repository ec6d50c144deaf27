import { expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import type { Ctx } from "../../src/server/context.ts";
import { checkTry, countWrongTry, issueCode, purgeMailCodes } from "../../src/server/modules/mail-codes/service.ts";
import { requestReset, resetPassword } from "../../src/server/modules/password-reset/service.ts";
import { hashing } from "../../src/server/modules/passwords/password-hash.ts";
import { createUser, deleteUser } from "../../src/server/modules/users/service.ts";
import { createVault } from "../../src/server/security/vault.ts";
import { goodPassword, otherPassword } from "../support/account.ts";
import { createClock } from "../support/clock.ts";
import { tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { interrupted } from "../support/interrupted.ts";
import { readResetCode } from "../support/mail.ts";
import { hasPassword, otherCode } from "../support/password-reset.ts";
import { onDatabase } from "../support/suite.ts";

const email = "ada@example.com";
const about = (subject: string) => ({ purpose: "reset", subject }) as const;
const codeOf = async (work: Promise<unknown>) => ((await failureOf(work)) as { code?: number }).code;

onDatabase("file", (suite) => {
  async function sent() {
    const shop = await suite.shop();
    const ctx = await tenantContext(shop);
    const { id } = await createUser(ctx, { email, password: goodPassword });
    await requestReset(ctx, { email });
    const code = await readResetCode(suite.app, shop.namespace);
    const reset = (by: Ctx, given = code) => resetPassword(by, { email, code: given, password: otherPassword });
    const isChanged = () => hasPassword(shop, id, otherPassword);
    return { ctx, id, code, reset, isChanged };
  }

  test("a code replaced after it was checked changes nothing, and is a wrong try at the new one", async () => {
    const { ctx, code, reset, isChanged } = await sent();
    const before = interrupted(ctx, async () => {
      while ((await issueCode(ctx, about(email))).code === code);
    });
    expect(await codeOf(reset(before))).toBe(5216);
    expect(await isChanged()).toBe(false);
    const { rows } = await ctx.db.execute({
      sql: "select wrong_tries from mail_codes where tenant_id = ?",
      args: [ctx.tenant.id],
    });
    expect(rows[0]?.wrong_tries).toBe(1);
  });

  test("a code whose tries were used up after it was checked changes nothing (5213)", async () => {
    const { ctx, code, reset, isChanged } = await sent();
    const before = interrupted(ctx, async () => {
      for (let n = 0; n < 5; n++) await countWrongTry(ctx, { ...about(email), code: otherCode(code) });
    });
    expect(await codeOf(reset(before))).toBe(5213);
    expect(await isChanged()).toBe(false);
  });

  test("a code used after it was checked changes nothing (5216)", async () => {
    const { ctx, reset, isChanged } = await sent();
    const before = interrupted(ctx, () =>
      ctx.db.execute({
        sql: "update mail_codes set used_at = ? where tenant_id = ?",
        args: ["now", ctx.tenant.id],
      }),
    );
    expect(await codeOf(reset(before))).toBe(5216);
    expect(await isChanged()).toBe(false);
  });

  test("a code that expired while the password was hashed changes nothing (5216)", async () => {
    const { ctx, reset, isChanged } = await sent();
    const clock = createClock(ctx.now());
    const before = interrupted({ ...ctx, now: clock.now }, async () => clock.advance(15 * 60_000));
    // The transaction uses the clock of the request, which is later.
    expect(await codeOf(reset(before))).toBe(5216);
    expect(await isChanged()).toBe(false);
  });

  test("a user deleted after the code was checked gets the reply of an unknown one (5216)", async () => {
    const { ctx, id, reset } = await sent();
    expect(await codeOf(reset(interrupted(ctx, () => deleteUser(ctx, id, null))))).toBe(5216);
  });

  test("a code made with another key of the server is wrong", async () => {
    const { ctx, reset } = await sent();
    const rekeyed = { ...ctx, vault: createVault(() => "another secret of the server, 32 characters or more") };
    expect(await codeOf(reset(rekeyed))).toBe(5216);
  });

  test("a wrong code is not hashed, and a hash that waits too long does not use up the code (5001)", async () => {
    const { ctx, code, reset, isChanged } = await sent();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    Object.assign(hashing.limits, { permits: 1, maxWaiting: 0 });
    const busy = hashing.run(() => released);
    try {
      expect(await codeOf(reset(ctx, otherCode(code)))).toBe(5216);
      expect(await codeOf(reset(ctx))).toBe(5001);
    } finally {
      release();
      await busy;
      Object.assign(hashing.limits, { permits: availableParallelism(), maxWaiting: 128 });
    }
    await reset(ctx);
    expect(await isChanged()).toBe(true);
  });

  test("a purge removes codes that expired over a day ago, and changes no reply", async () => {
    const { ctx, reset } = await sent();
    const clock = createClock(ctx.now());
    const later = { ...ctx, now: clock.now };
    const rows = async () => {
      const sql = "select count(*) as n from mail_codes where tenant_id = ?";
      return Number((await ctx.db.execute({ sql, args: [ctx.tenant.id] })).rows[0]?.n);
    };
    clock.advance(15 * 60_000 + 86_400_000 - 1);
    await purgeMailCodes(later);
    expect(await rows()).toBe(1);
    expect(await codeOf(reset(later))).toBe(5216);
    clock.advance(1);
    expect(await purgeMailCodes(later)).toBeGreaterThanOrEqual(1);
    expect(await rows()).toBe(0);
    expect(await codeOf(reset(later))).toBe(5216);
    expect(await checkTry(later, { ...about(email), code: "000000" })).toMatchObject({ code: 5216 });
  });
});

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

  const races: [
    what: string,
    code: number,
    happen: (sent: { ctx: Ctx; id: string; code: string }) => Promise<unknown>,
  ][] = [
    [
      "is replaced",
      5216,
      async ({ ctx, code }) => {
        while ((await issueCode(ctx, about(email))).code === code);
      },
    ],
    [
      "has no tries left",
      5213,
      async ({ ctx, code }) => {
        for (let n = 0; n < 5; n++) await countWrongTry(ctx, { ...about(email), code: otherCode(code) });
      },
    ],
    ["is used", 5216, ({ ctx }) => ctx.db.execute("update mail_codes set used_at = 'now'")],
    // The transaction uses the clock of the request, which is later.
    ["expires", 5216, async () => suite.app.clock.advance(15 * 60_000)],
    ["belongs to a user who is deleted", 5216, ({ ctx, id }) => deleteUser(ctx, id, null)],
  ];
  test.each(races)("a code that %s after it was checked changes nothing (%i)", async (_what, refusal, happen) => {
    const { ctx, id, code, reset } = await sent();
    const { rows: before } = await readHash(id);
    expect(await codeOf(reset(interrupted(ctx, () => happen({ ctx, id, code }))))).toBe(refusal);
    const { rows: after } = await readHash(id);
    if (after.length > 0) expect(after).toEqual(before);
  });

  const readHash = (id: string) =>
    suite.app.db.execute({ sql: "select password_hash from users where id = ?", args: [id] });

  test("a reset code that was made with another secret key is wrong", async () => {
    const { ctx, reset } = await sent();
    const rekeyed = { ...ctx, vault: createVault(() => "another secret of the server, 32 characters or more") };
    expect(await codeOf(reset(rekeyed))).toBe(5216);
  });

  test("for a wrong code, no password is hashed; if hashing waits too long (5001), the code is not used up", async () => {
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

  test("a purge removes reset codes that expired over a day ago, and changes no reply", async () => {
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

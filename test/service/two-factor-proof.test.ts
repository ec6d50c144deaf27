import { expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import { beginTwoFactor, confirmTwoFactor, renewRecoveryCodes } from "../../src/server/modules/two-factor/enrolment.ts";
import { consumeCode, resetTwoFactor } from "../../src/server/modules/two-factor/service.ts";
import { getUser } from "../../src/server/modules/users/service.ts";
import { goodPassword, openAccount } from "../support/account.ts";
import { tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { interrupted } from "../support/interrupted.ts";
import { onDatabase } from "../support/suite.ts";

/** Returns the user's context. `happen` runs just before its first transaction. */
const interruptedFor = (ctx: Ctx, userId: string, happen: () => Promise<unknown>): Ctx =>
  interrupted({ ...ctx, actor: { kind: "user", userId, role: "customer" } }, happen);

const codeOf = async (work: Promise<unknown>) => ((await failureOf(work)) as { code?: number }).code;

onDatabase("file", (suite) => {
  async function prepare() {
    const shop = await suite.shop();
    const account = await openAccount(shop);
    const ctx = await tenantContext(shop);
    const isOn = async () => (await getUser(ctx, account.id)).two_factor_enabled;
    return { ctx, account, isOn };
  }

  test("a concurrent enrolment does not replace a secret that was confirmed meanwhile (5306)", async () => {
    const { ctx, account, isOn } = await prepare();
    await account.begin();
    // Writes directly, like another process. In one process, the two calls would wait for each other.
    const confirmed = { sql: "update two_factor set confirmed_at = ? where user_id = ?", args: ["now", account.id] };
    const before = interruptedFor(ctx, account.id, () => ctx.db.execute(confirmed));
    expect(await codeOf(beginTwoFactor(before, { password: goodPassword }))).toBe(5306);
    expect(await isOn()).toBe(true);
    const otp = await account.code();
    expect(await inTransaction(ctx, (tx) => consumeCode(tx, account.id, otp))).toBe(true);
  });

  test("a code cannot confirm an enrolment whose secret was replaced meanwhile (5212)", async () => {
    const { ctx, account, isOn } = await prepare();
    await account.begin();
    const otp = await account.code();
    const sealed = ctx.vault.seal("two-factor", account.id, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    const replaced = { sql: "update two_factor set secret = ? where user_id = ?", args: [sealed, account.id] };
    const before = interruptedFor(ctx, account.id, () => ctx.db.execute(replaced));
    expect(await codeOf(confirmTwoFactor(before, { otp }))).toBe(5212);
    expect(await isOn()).toBe(false);
  });

  test("an enrolment that was removed meanwhile cannot be confirmed (5306)", async () => {
    const { ctx, account, isOn } = await prepare();
    await account.begin();
    const otp = await account.code();
    const before = interruptedFor(ctx, account.id, () => resetTwoFactor(ctx, account.id));
    expect(await codeOf(confirmTwoFactor(before, { otp }))).toBe(5306);
    expect(await isOn()).toBe(false);
  });

  test("if two-factor is disabled meanwhile, no recovery codes are created (5306), and this does not count as a failure", async () => {
    const { ctx, account } = await prepare();
    await account.enrol();
    const given = { password: goodPassword, otp: await account.code() };
    for (let n = 0; n < 4; n++) {
      const before = interruptedFor(ctx, account.id, () => resetTwoFactor(ctx, account.id));
      expect(await codeOf(renewRecoveryCodes(before, given))).toBe(5306);
    }
    const { rows } = await ctx.db.execute({
      sql: "select count(*) as n from recovery_codes where user_id = ?",
      args: [account.id],
    });
    expect(rows[0]?.n).toBe(0);
  });

  test("two-factor routes refuse callers that are not users (5300)", async () => {
    const { ctx } = await prepare();
    for (const actor of [
      { kind: "terminal" },
      { kind: "visitor" },
      { kind: "app", appId: "app_x", scopes: new Set(["*"]) },
    ] as const) {
      expect(await codeOf(beginTwoFactor({ ...ctx, actor }, { password: goodPassword }))).toBe(5300);
    }
  });
});

import { describe, expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import type { AppError } from "../../src/server/errors.ts";
import { consumeCode, resetTwoFactor } from "../../src/server/modules/two-factor/service.ts";
import { drawQrCode, matchStep, otpauthUri } from "../../src/server/modules/two-factor/totp.ts";
import { createVault } from "../../src/server/security/vault.ts";
import { type Account, openAccount } from "../support/account.ts";
import { tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { readOutbox } from "../support/mail.ts";
import { onDatabase } from "../support/suite.ts";
import { codeAt } from "../support/totp.ts";

/** Uses a code. Returns "used" if the code is refused but does not count as a failure. */
const spend = (ctx: Ctx, userId: string, otp: string): Promise<boolean | "used"> =>
  inTransaction(ctx, (tx) => consumeCode(tx, userId, otp)).catch((error) => {
    if ((error as AppError).kind !== "invalidLogin") throw error;
    return "used";
  });

async function countAudit({ db }: Ctx, ...args: [userId: string, event: string]): Promise<number> {
  return (await db.execute({ sql: "select 1 from audit_log where subject = ? and event = ?", args })).rows.length;
}

onDatabase("file", (suite) => {
  /** Creates a user with two-factor sign-in. Also returns the context of the store. */
  async function enrolled(): Promise<{ ctx: Ctx; account: Account; codes: string[] }> {
    const shop = await suite.shop();
    const account = await openAccount(shop);
    return { ctx: await tenantContext(shop), account, codes: await account.enrol() };
  }

  test("of many concurrent calls with one code in two processes, only one is accepted", async () => {
    const { ctx, account } = await enrolled();
    const elsewhere = { ...ctx, db: await suite.database.openAgain() };
    const code = await account.code();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, n) => spend(n % 2 ? elsewhere : ctx, account.id, code)),
    );
    expect(outcomes.toSorted()).toEqual([true, ...Array(19).fill("used")]);
  });

  test("a code is used up only if the call succeeds", async () => {
    const { ctx, account, codes } = await enrolled();
    for (const otp of [await account.code(), codes[0] as string]) {
      const stopped = inTransaction(ctx, async (tx) => {
        expect(await consumeCode(tx, account.id, otp)).toBe(true);
        throw new Error("stopped");
      });
      expect(String(await failureOf(stopped))).toContain("stopped");
      expect(await spend(ctx, account.id, otp)).toBe(true);
    }
  });

  test("with another secret key, the server accepts no code, and no request fails", async () => {
    const { ctx, account, codes } = await enrolled();
    const rekeyed = { ...ctx, vault: createVault(() => "another secret of the server, 32 characters or more") };
    expect(await spend(rekeyed, account.id, await account.code())).toBe(false);
    expect(await spend(rekeyed, account.id, codes[0] as string)).toBe(false);
    expect(await spend(ctx, account.id, await account.code())).toBe(true);
  });

  test("ten recovery codes can each be used once, in any spelling", async () => {
    const { ctx, account, codes } = await enrolled();
    expect(codes).toHaveLength(10);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/);
    const typed = codes.map((code, n) => {
      const forms = [code, code.toUpperCase(), code.replace("-", ""), ` ${code.split("").join(" ")} `];
      return (forms[n % 4] as string).replaceAll("0", n % 2 ? "o" : "O").replaceAll("1", n % 2 ? "l" : "I");
    });
    for (const code of typed) expect(await spend(ctx, account.id, code)).toBe(true);
    for (const code of codes) expect(await spend(ctx, account.id, code)).toBe(false);
    expect(await countAudit(ctx, account.id, "two_factor.recovery_code_used")).toBe(10);
  });

  test("stored secrets and recovery codes of a user are not valid for another user", async () => {
    const { ctx, account, codes } = await enrolled();
    const thief = await enrolled();
    for (const [table, column] of [
      ["two_factor", "secret"],
      ["recovery_codes", "hash"],
    ]) {
      const theirs = `(select ${column} from ${table} where user_id = ?1 limit 1)`;
      await ctx.db.execute({
        sql: `update ${table} set ${column} = ${theirs} where rowid in (select rowid from ${table} where user_id = ?2 limit 1)`,
        args: [account.id, thief.account.id],
      });
    }
    for (const otp of [await account.code(), ...codes]) {
      expect(await spend(thief.ctx, thief.account.id, otp)).toBe(false);
    }
  });

  test("a reset of two-factor removes secret and recovery codes, mails the user, and is recorded in the audit log", async () => {
    const { ctx, account, codes } = await enrolled();
    expect(await resetTwoFactor(ctx, account.id)).toBe(true);
    for (const otp of [await account.code(), codes[0] as string]) expect(await spend(ctx, account.id, otp)).toBe(false);
    expect(await resetTwoFactor(ctx, account.id)).toBe(false);
    const mails = await readOutbox(suite.app, ctx.tenant.namespace);
    expect(mails.map(({ kind, to, values }) => [kind, to, values?.state])).toEqual([
      ["two_factor_changed", expect.objectContaining({ email: account.email }), "enabled"],
      ["two_factor_changed", expect.objectContaining({ email: account.email }), "disabled"],
    ]);
    expect(await countAudit(ctx, account.id, "two_factor.reset")).toBe(1);
  });
});

/** `12345678901234567890` in base32: the secret of RFC 6238, appendix B. */
const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const at = 1_893_456_000_000;

describe("codes", () => {
  test("the codes are those of RFC 6238, appendix B", async () => {
    for (const [seconds, code] of [
      [59, "287082"],
      [1111111109, "081804"],
      [1234567890, "005924"],
      [20000000000, "353130"],
    ] as const) {
      expect(await codeAt(secret, seconds * 1000)).toBe(code);
      expect(await matchStep(secret, code, seconds * 1000)).toBe(Math.floor(seconds / 30));
    }
  });

  test("a code is valid exactly in its half minute and in the half minutes before and after", async () => {
    const code = await codeAt(secret, at);
    const step = at / 30_000;
    expect(await matchStep(secret, code, at - 30_001)).toBeNull();
    expect(await matchStep(secret, code, at - 30_000)).toBe(step);
    expect(await matchStep(secret, code, at + 59_999)).toBe(step);
    expect(await matchStep(secret, code, at + 60_000)).toBeNull();
  });

  test("only a text of the same six digits matches a code", async () => {
    const code = await codeAt(secret, at);
    for (const other of ["", code.slice(1), `${code}0`, `0${code}`, "abcdef", "١٢٣٤٥٦"]) {
      expect(await matchStep(secret, other, at)).toBeNull();
    }
  });
});

describe("the data for an authenticator", () => {
  test("a colon in the name of store or user is not read as the separator of the names", async () => {
    const uri = new URL(await otpauthUri(secret, "Shop: Berlin", "ada@example.com"));
    expect(decodeURIComponent(uri.pathname)).toBe("/Shop  Berlin:ada@example.com");
  });

  test("the QR code contains no scripts or external resources", async () => {
    const svg = await drawQrCode(await otpauthUri(secret, '"><script>alert(1)</script>', "ada@example.com"));
    expect(svg).toMatch(/^<svg viewBox="0 0 \d+ \d+"[^>]*><rect[^>]*\/><path[^>]*\/><\/svg>$/);
    expect(svg).not.toMatch(/script|href|url\(/);
  });
});

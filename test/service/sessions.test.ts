import { expect, test } from "bun:test";
import type { InStatement } from "@libsql/core/api";
import type { Ctx } from "../../src/server/context.ts";
import type { Session } from "../../src/server/db/session.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import { AppError } from "../../src/server/errors.ts";
import { failureSubject, limitFailures, loginFailures } from "../../src/server/modules/passwords/failures.ts";
import { hashPassword } from "../../src/server/modules/passwords/password-hash.ts";
import { changeOwnPassword } from "../../src/server/modules/profile/service.ts";
import { countHit } from "../../src/server/modules/rate-limits/service.ts";
import { login } from "../../src/server/modules/sessions/login.ts";
import { issueToken, listTokens, verifyToken } from "../../src/server/modules/tokens/service.ts";
import { createUser } from "../../src/server/modules/users/service.ts";
import { goodPassword, openAccount, otherPassword } from "../support/account.ts";
import { tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { interrupted } from "../support/interrupted.ts";
import { onDatabase } from "../support/suite.ts";

const email = "ada@example.com";
const codeOf = async (work: Promise<unknown>) => ((await failureOf(work)) as { code?: number }).code;

/** Returns the same context, but it records every statement. */
function recorded(ctx: Ctx, seen: string[]): Ctx {
  const note = (stmt: InStatement) => seen.push(typeof stmt === "string" ? stmt : stmt.sql);
  const wrap = (db: Session): Session => ({
    execute: (stmt) => {
      note(stmt);
      return db.execute(stmt);
    },
    batch: (stmts, mode) => {
      stmts.forEach(note);
      return db.batch(stmts, mode);
    },
    transaction: (fn) => db.transaction((tx) => fn(wrap(tx))),
  });
  return { ...ctx, db: wrap(ctx.db) };
}

onDatabase("file", (suite) => {
  async function openStore() {
    const shop = await suite.shop();
    const ctx = await tenantContext(shop);
    const account = await openAccount(shop, { email });
    const change = (what: string, ...args: string[]) =>
      ctx.db.execute({ sql: `update users set ${what} where id = ?`, args: [...args, account.id] });
    const signIn = (by: Ctx, more = {}) => login(by, { email, password: goodPassword, ...more });
    const active = async () => (await listTokens(ctx, { userId: account.id })).map(({ token_id }) => token_id);
    return { shop, ctx, account, change, signIn, active };
  }
  /**
   * Uses up the account's failed attempts directly in the database, as another process would. In one process, attempts
   * of an account wait for each other.
   */
  const lockOut = async (ctx: Ctx) => {
    for (let n = 0; n < 3; n++) await countHit(ctx, loginFailures, failureSubject(ctx, email));
  };

  type Change = (what: string, ...args: string[]) => Promise<unknown>;
  const changes: [what: string, happen: (change: Change) => Promise<unknown>][] = [
    ["changed to another", async (change) => change("password_hash = ?", await hashPassword(otherPassword))],
    ["taken away", (change) => change("password_hash = null")],
    ["left to a user who was disabled", (change) => change("status = 'disabled'")],
    ["left to a user whose address is another now", (change) => change("email_key = 'other@example.com'")],
  ];
  for (const [what, happen] of changes) {
    test(`if a password was ${what} after it was verified, the sign-in is refused (5212)`, async () => {
      const { ctx, change, signIn, active } = await openStore();
      const before = await active();
      expect(await codeOf(signIn(interrupted(ctx, () => happen(change))))).toBe(5212);
      expect(await active()).toEqual(before);
    });
  }

  test("a sign-in succeeds if the hash of the same password is renewed meanwhile", async () => {
    const { ctx, change, signIn } = await openStore();
    await change("password_hash = ?", await Bun.password.hash(goodPassword, { algorithm: "bcrypt", cost: 4 }));
    const renewed = await hashPassword(goodPassword);
    const { token, user_id } = await signIn(interrupted(ctx, () => change("password_hash = ?", renewed)));
    expect(await verifyToken(ctx, { tenantId: ctx.tenant.id, userId: user_id, token })).toMatchObject({
      userId: user_id,
    });
  });

  test("if two-factor is enabled after the password was verified, its code is required", async () => {
    const { ctx, account, signIn } = await openStore();
    await account.begin();
    const confirm = { sql: "update two_factor set confirmed_at = created_at where user_id = ?", args: [account.id] };
    expect(await codeOf(signIn(interrupted(ctx, () => ctx.db.execute(confirm))))).toBe(5211);
  });

  test("if other processes have counted too many failures meanwhile, even the right password is refused, with and without two-factor", async () => {
    const { ctx, signIn, active, account } = await openStore();
    const before = await active();
    expect(await codeOf(signIn(interrupted(ctx, () => lockOut(ctx))))).toBe(5213);
    expect(await active()).toEqual(before);
    suite.app.clock.advance(20 * 60_000);
    await account.enrol();
    expect(await codeOf(signIn(interrupted(ctx, () => lockOut(ctx))))).toBe(5213);
  });

  test("before a new password is written, failures, hash and token are checked again", async () => {
    const happenings: [code: number, happen: (store: Awaited<ReturnType<typeof openStore>>) => Promise<unknown>][] = [
      [5213, ({ ctx }) => lockOut(ctx)],
      [5207, async ({ change }) => change("password_hash = ?", await hashPassword(otherPassword))],
      [5207, ({ ctx, account }) => inTransaction(ctx, (tx) => issueToken(tx, account.id))],
      [5207, ({ change }) => change("status = 'disabled'")],
    ];
    for (const [code, happen] of happenings) {
      const store = await openStore();
      const { ctx, account, active } = store;
      const [tokenId = ""] = await active();
      const actor = { kind: "user", userId: account.id, role: "customer", tokenId } as const;
      const before = interrupted({ ...ctx, actor }, () => happen(store));
      const input = { current_password: goodPassword, password: `${otherPassword}-new` };
      expect(await codeOf(changeOwnPassword(before, input))).toBe(code);
    }
  });

  test("every failed login runs the same statements", async () => {
    const { shop, ctx } = await openStore();
    const disabled = await openAccount(shop);
    await ctx.db.execute({ sql: "update users set status = 'disabled' where id = ?", args: [disabled.id] });
    await createUser(ctx, { email: "unset@example.com" });
    const asked = new Set<string>();
    for (const [address, password] of [
      [email, otherPassword],
      ["nobody@example.com", goodPassword],
      ["no address", goodPassword],
      [disabled.email, goodPassword],
      ["unset@example.com", goodPassword],
    ] as const) {
      const seen: string[] = [];
      expect(await codeOf(login(recorded(ctx, seen), { email: address, password }))).toBe(5212);
      expect(seen.length).toBeGreaterThan(3);
      asked.add(seen.join("\n"));
    }
    expect(asked.size).toBe(1);
  });

  test("after a failed attempt, the waiting attempts for the account continue", async () => {
    const { ctx, signIn } = await openStore();
    const [failed, good] = await Promise.all([
      failureOf(limitFailures(ctx, email, () => Promise.reject(new AppError("unavailable")))),
      signIn(ctx),
    ]);
    expect([(failed as AppError).code, good.token.slice(0, 3)]).toEqual([5001, "v2."]);
  });
});

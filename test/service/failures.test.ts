import { expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import { AppError, type ErrorKind } from "../../src/server/errors.ts";
import { clearFailures, limitFailures } from "../../src/server/modules/passwords/failures.ts";
import { tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { onDatabase } from "../support/suite.ts";

const email = "ada@example.com";

onDatabase("file", (suite) => {
  const openStore = async () => tenantContext(await suite.shop());

  /** Makes an attempt that fails with this error. Returns the code; undefined if the attempt succeeds. */
  async function attempt(ctx: Ctx, kind?: ErrorKind, key = email): Promise<number | undefined> {
    try {
      await limitFailures(ctx, key, async () => {
        if (kind !== undefined) throw new AppError(kind);
      });
      return undefined;
    } catch (error) {
      return (error as AppError).code;
    }
  }

  test("only failed attempts count, and not a success, a missing code or a busy server", async () => {
    const ctx = await openStore();
    for (let n = 0; n < 4; n++) {
      expect(await attempt(ctx)).toBeUndefined();
      expect(await attempt(ctx, "twoFactorRequired")).toBe(5211);
      expect(await attempt(ctx, "unavailable")).toBe(5001);
    }
    for (const code of [5212, 5212, 5212, 5213]) expect(await attempt(ctx, "invalidLogin")).toBe(code);
  });

  test("a success resets the count of failures, but a rolled-back success does not", async () => {
    const ctx = await openStore();
    await attempt(ctx, "invalidLogin");
    await attempt(ctx, "invalidLogin");
    await failureOf(
      inTransaction(ctx, async (tx) => {
        await clearFailures(tx, email);
        throw new Error("undone");
      }),
    );
    expect(await attempt(ctx, "invalidLogin")).toBe(5212);
    expect(await attempt(ctx)).toBe(5213);
    await inTransaction(ctx, (tx) => clearFailures(tx, email));
    for (const code of [5212, 5212, 5212, 5213]) expect(await attempt(ctx, "invalidLogin")).toBe(code);
  });

  test("of many concurrent wrong attempts, only three run, one after another", async () => {
    const ctx = await openStore();
    let [running, most, tried] = [0, 0, 0];
    const codes = await Promise.all(
      Array.from({ length: 20 }, () =>
        failureOf(
          limitFailures(ctx, email, async () => {
            tried += 1;
            running += 1;
            most = Math.max(most, running);
            await new Promise((resolve) => setImmediate(resolve));
            running -= 1;
            throw new AppError("invalidLogin");
          }),
        ).then((error) => (error as AppError).code),
      ),
    );
    expect({ tried, most }).toEqual({ tried: 3, most: 1 });
    expect(codes.toSorted()).toEqual([...Array(3).fill(5212), ...Array(17).fill(5213)]);
  });

  test("attempts for different accounts do not wait for each other", async () => {
    const ctx = await openStore();
    const gate = Promise.withResolvers<void>();
    const slow = limitFailures(ctx, email, () => gate.promise);
    expect(await attempt(ctx, undefined, "bob@example.com")).toBeUndefined();
    gate.resolve();
    await slow;
  });

  test("the number of waiting attempts for an account is limited, and no attempt waits forever", async () => {
    const ctx = await openStore();
    const codes = await Promise.all(Array.from({ length: 200 }, () => attempt(ctx)));
    expect(codes.filter((code) => code === undefined)).toHaveLength(129);
    expect(codes.filter((code) => code === 5001)).toHaveLength(71);
    expect(await attempt(ctx)).toBeUndefined();
  });

  test("no counter of failures contains the typed email, because a user may type a password there", async () => {
    const ctx = await openStore();
    const slip = "correct horse battery";
    await attempt(ctx, "invalidLogin", slip);
    const { rows } = await ctx.db.execute("select key from rate_limits");
    expect(JSON.stringify(rows)).not.toContain(slip);
  });
});

import type { Session } from "./session.ts";

/** Runs `fn` in one write transaction, or in the outer one. Services that write more than one row must use it. */
export function inTransaction<C extends { db: Session }, T>(ctx: C, fn: (ctx: C) => Promise<T>): Promise<T> {
  return ctx.db.transaction((tx) => fn({ ...ctx, db: tx }));
}

/** Carries a result out of a transaction that is rolled back. */
class DryRun<T> extends Error {
  readonly result: T;

  constructor(result: T) {
    super("This transaction is a dry run.");
    this.result = result;
  }
}

/** Runs `fn` in a transaction as `inTransaction` does, rolls it back, and returns its result. */
export async function inDryRun<C extends { db: Session }, T>(ctx: C, fn: (ctx: C) => Promise<T>): Promise<T> {
  try {
    await inTransaction(ctx, async (tx) => {
      throw new DryRun(await inTransaction(tx, fn));
    });
  } catch (error) {
    if (error instanceof DryRun) return error.result;
    throw error;
  }
  throw new Error("A dry run ended without its result.");
}

/** Runs `fn` in a savepoint: its error undoes its own writes only. Another error: the transaction is lost. */
export async function inSavepoint<T>(tx: { db: Session }, fn: () => Promise<T>): Promise<T> {
  await tx.db.execute("SAVEPOINT bodega_part");
  try {
    const value = await fn();
    await tx.db.execute("RELEASE bodega_part");
    return value;
  } catch (error) {
    await tx.db.batch(["ROLLBACK TO bodega_part", "RELEASE bodega_part"]);
    throw error;
  }
}

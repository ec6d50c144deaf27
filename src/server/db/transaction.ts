import type { Session } from "./session.ts";

/**
 * Runs `fn` with a context whose `db` is one write transaction: all of its writes stand, or none. Within a transaction
 * it joins the outer one. It is the only way for a service to write more than one row.
 */
export function inTransaction<C extends { db: Session }, T>(ctx: C, fn: (ctx: C) => Promise<T>): Promise<T> {
  return ctx.db.transaction((tx) => fn({ ...ctx, db: tx }));
}

/** Carries a result out of a transaction that must not stand. */
class DryRun<T> extends Error {
  readonly result: T;

  constructor(result: T) {
    super("The transaction was tried only.");
    this.result = result;
  }
}

/** Runs `fn` in a transaction as `inTransaction` does, undoes all of it, and answers what it answered. */
export async function inDryRun<C extends { db: Session }, T>(ctx: C, fn: (ctx: C) => Promise<T>): Promise<T> {
  try {
    await inTransaction(ctx, async (tx) => {
      throw new DryRun(await fn(tx));
    });
  } catch (error) {
    if (error instanceof DryRun) return error.result;
    throw error;
  }
  throw new Error("A dry run ended without its result.");
}

/**
 * Runs `fn` inside a transaction in such a way that its failure undoes what it did, and nothing else of the transaction.
 * @throws what `fn` threw, once that is undone; another error when it cannot be, and the transaction is lost.
 */
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

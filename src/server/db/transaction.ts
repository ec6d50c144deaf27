import type { Session } from "./session.ts";

/** Runs `fn` in a write transaction, or in the present one. Services that write several rows must use this. */
export function inTransaction<C extends { db: Session }, T>(ctx: C, fn: (ctx: C) => Promise<T>): Promise<T> {
  return ctx.db.transaction((tx) => fn({ ...ctx, db: tx }));
}

/** Runs `fn` in a write transaction, rolls the transaction back, and returns the result of `fn`. */
export async function inDryRun<C extends { db: Session }, T>(ctx: C, fn: (ctx: C) => Promise<T>): Promise<T> {
  const undo = new Error("This transaction is a dry run.");
  const results: T[] = [];
  const attempt = inTransaction(ctx, async (tx) => {
    results.push(await fn(tx));
    throw undo;
  });
  await attempt.catch((error) => {
    if (error !== undo) throw error;
  });
  return results.at(-1) as T;
}

/** Runs `fn` in a savepoint. If `fn` fails, only its writes are undone, and its error is thrown. */
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

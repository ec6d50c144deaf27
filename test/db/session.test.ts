import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { isCheckViolation, isForeignKeyViolation, isUniqueViolation } from "../../src/server/db/db-errors.ts";
import type { Session } from "../../src/server/db/session.ts";
import { all, bindFirst, get, run, statement } from "../../src/server/db/statement.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import { kinds, type Opened } from "./kinds.ts";

const insert = statement(
  sql`INSERT INTO items (name, stock) VALUES (${sql.placeholder("name")}, ${sql.placeholder("stock")})`,
);
const byName = statement<{ id: number; name: string; stock: number | null }>(
  sql`SELECT id, name, stock FROM items WHERE name = ${sql.placeholder("name")}`,
);
const count = statement<{ n: number }>(sql`SELECT count(*) AS n FROM items`);

async function names(db: Session, like: string): Promise<unknown[]> {
  const { rows } = await db.execute({ sql: "SELECT name FROM items WHERE name LIKE ? ORDER BY name", args: [like] });
  return rows.map((row) => row.name);
}

describe.each(kinds)("%s database", (_kind, open) => {
  let opened: Opened;
  let db: Opened["db"];
  beforeAll(async () => {
    opened = await open();
    db = opened.db;
    await db.batch([
      `CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, stock INTEGER,
        parent INTEGER REFERENCES items(id), CONSTRAINT items_stock CHECK (stock >= 0))`,
      "CREATE TABLE plain (value)",
    ]);
  });
  afterAll(() => opened.dispose());

  test("a write is visible to the next read", async () => {
    for (let i = 0; i < 20; i++) {
      expect(await run(db, insert, { name: `next-${i}`, stock: i })).toBe(1);
      expect(await get(db, byName, { name: `next-${i}` })).toMatchObject({ name: `next-${i}`, stock: i });
      expect(await get(db, byName, { name: `next-${i}` })).toMatchObject({ stock: i });
    }
  });

  test("without rows, get returns undefined and all returns an empty list", async () => {
    expect(await get(db, byName, { name: "nobody" })).toBeUndefined();
    expect(await all(db, byName, { name: "nobody" })).toEqual([]);
  });

  test("rows are read by name, by index and by length", async () => {
    const { rows } = await db.execute("SELECT 1 AS a, 'x' AS b");
    const row = rows[0];
    expect([row?.a, row?.b, row?.[0], row?.[1], row?.length]).toEqual([1, "x", 1, "x", 2]);
    expect(JSON.parse(JSON.stringify(row))).toEqual({ a: 1, b: "x" });
    expect(Array.prototype.slice.call(row)).toEqual([1, "x"]);
  });

  test("whole numbers and booleans are stored as integers, fractions as reals, bytes unchanged", async () => {
    const bytes = new Uint8Array([1, 2, 3, 0, 255]).subarray(1);
    const args = [5, 1.5, true, false, 2 ** 40, -1, 9007199254740991, 1n, null, "é\n", bytes];
    const types = `SELECT ${args.map((_, i) => `typeof(?${i + 1})`).join(", ")}`;
    const { rows } = await db.execute({ sql: types, args });
    expect(Array.from(rows[0] as ArrayLike<unknown>)).toEqual([
      ...["integer", "real", "integer", "integer", "integer", "integer"],
      ...["integer", "integer", "null", "text", "blob"],
    ]);
    const back = await db.execute({ sql: "SELECT ? AS big, ? AS text, ? AS bytes", args: [2 ** 53 - 1, "é\n", bytes] });
    expect(back.rows[0]).toMatchObject({ big: 2 ** 53 - 1, text: "é\n" });
    expect(new Uint8Array(back.rows[0]?.bytes as ArrayBuffer)).toEqual(new Uint8Array([2, 3, 0, 255]));
  });

  test("a stored integer that is too large for a JavaScript number is an error, never a wrong number", async () => {
    await expect(db.execute("SELECT 9007199254740993 AS big")).rejects.toThrow(RangeError);
    expect((await db.execute("SELECT 1e300 AS real")).rows[0]?.real).toBe(1e300);
  });

  test("arguments that SQLite would lose or misunderstand are refused", async () => {
    const one = "INSERT INTO plain VALUES (?)";
    await expect(db.execute({ sql: one, args: [] })).rejects.toThrow("takes 1 arguments");
    await expect(db.execute({ sql: one, args: ["a", "b"] })).rejects.toThrow("takes 1 arguments");
    await expect(db.execute({ sql: one, args: [undefined as never] })).rejects.toThrow("undefined");
    await expect(db.execute({ sql: one, args: [Number.NaN] })).rejects.toThrow(RangeError);
    await expect(db.execute({ sql: one, args: [2n ** 64n] })).rejects.toThrow(RangeError);
    await expect(db.execute({ sql: "INSERT INTO plain VALUES (:a)", args: { a: 1 } })).rejects.toThrow(TypeError);
    await expect(db.execute({ sql: one, args: [{} as never] })).rejects.toThrow("type object");
    await expect(db.execute({ sql: one, args: ["a\0b"] })).rejects.toMatchObject({ code: 5102 });
    await expect(db.execute("INSERT INTO plain VALUES (1); DELETE FROM plain")).rejects.toThrow();
    expect((await db.execute("SELECT * FROM plain")).rows).toEqual([]);
  });

  test("errors of different constraints can be distinguished, inside and outside a transaction", async () => {
    await run(db, insert, { name: "taken", stock: 1 });
    const attempt = (name: string, stock: number) => run(db, insert, { name, stock }).catch((error) => error);
    const inside = (name: string, stock: number) =>
      db.transaction((tx) => run(tx, insert, { name, stock })).catch((error) => error);
    for (const one of [await attempt("taken", 1), await inside("taken", 1)]) {
      expect([isUniqueViolation(one), isUniqueViolation(one, "items.name")]).toEqual([true, true]);
      expect([isUniqueViolation(one, "items.id"), isCheckViolation(one)]).toEqual([false, false]);
    }
    for (const one of [await attempt("negative", -1), await inside("negative", -1)]) {
      expect([isCheckViolation(one, "items_stock"), isCheckViolation(one, "other")]).toEqual([true, false]);
      expect(isUniqueViolation(one)).toBe(false);
    }
    const orphan = db.execute("INSERT INTO items (name, parent) VALUES ('orphan', 999999)");
    expect(isForeignKeyViolation(await orphan.catch((error) => error))).toBe(true);
  });

  test("a transaction commits all of its writes and returns its value", async () => {
    const value = await db.transaction(async (tx) => {
      await run(tx, insert, { name: "whole-1", stock: 1 });
      await tx.batch([{ sql: "INSERT INTO items (name) VALUES (?)", args: ["whole-2"] }]);
      return (await names(tx, "whole-%")).length;
    });
    expect(value).toBe(2);
    expect(await names(db, "whole-%")).toEqual(["whole-1", "whole-2"]);
  });

  test("a transaction that throws writes nothing, and its error is unchanged", async () => {
    const reason = new Error("changed my mind");
    const attempt = db.transaction(async (tx) => {
      await run(tx, insert, { name: "nothing", stock: 1 });
      throw reason;
    });
    await expect(attempt).rejects.toBe(reason);
    expect(await names(db, "nothing")).toEqual([]);
  });

  test("if the caller catches the failure of one statement, the rest of the transaction is kept", async () => {
    await db.transaction(async (tx) => {
      await run(tx, insert, { name: "kept-1", stock: 1 });
      expect(await run(tx, insert, { name: "kept-1", stock: 1 }).catch(isUniqueViolation)).toBe(true);
      await run(tx, insert, { name: "kept-2", stock: 1 });
    });
    expect(await names(db, "kept-%")).toEqual(["kept-1", "kept-2"]);
  });

  test("a nested transaction joins the outer transaction", async () => {
    const attempt = inTransaction({ db: db as Session }, async (outer) => {
      await inTransaction(outer, (inner) => run(inner.db, insert, { name: "joined", stock: 1 }));
      expect(outer.db).not.toBe(db);
      throw new Error("outer fails");
    });
    await expect(attempt).rejects.toThrow("outer fails");
    expect(await names(db, "joined")).toEqual([]);
  });

  test("after an error that ended the whole transaction, no later statement is committed alone", async () => {
    await run(db, insert, { name: "alone-1", stock: 1 });
    const ended = db.transaction(async (tx) => {
      await run(tx, insert, { name: "alone-2", stock: 1 });
      await tx.execute("INSERT OR ROLLBACK INTO items (name) VALUES ('alone-1')").catch(() => {});
      await run(tx, insert, { name: "alone-3", stock: 1 });
    });
    await expect(ended).rejects.toMatchObject({ code: 5001 });
    expect(await names(db, "alone-%")).toEqual(["alone-1"]);
  });

  test("a transaction's handle is refused after the transaction has ended", async () => {
    const kept = await db.transaction(async (tx) => tx);
    await expect(run(kept, insert, { name: "late", stock: 1 })).rejects.toMatchObject({ code: 5001 });
    expect(await names(db, "late")).toEqual([]);
  });

  test("a transaction reads the first row of a query anew each time, also after an error", async () => {
    await inTransaction({ db }, async ({ db: tx }) => {
      for (const name of ["first-a", "first-b"]) {
        await run(tx, insert, { name, stock: 1 });
        expect(await get(tx, byName, { name })).toMatchObject({ name });
        await expect(run(tx, insert, { name, stock: 1 })).rejects.toThrow();
        expect(await all(tx, byName, { name })).toHaveLength(1);
        expect(await get(tx, byName, { name: "first-b" })).toEqual(name === "first-a" ? undefined : expect.anything());
      }
      const query = bindFirst(statement(sql`SELECT name FROM items WHERE name LIKE 'first-%' ORDER BY name`));
      const change = "UPDATE items SET stock = 2 WHERE name LIKE 'first-%' RETURNING name";
      const [found, changed] = await tx.batch([query, { sql: change, args: [] }]);
      expect([found?.rows[0]?.name, changed?.rows.length]).toEqual(["first-a", 2]);
    });
    expect(await names(db, "first-%")).toEqual(["first-a", "first-b"]);
  });

  test("a batch commits all of its statements or none", async () => {
    const insertNamed = (name: string) => ({ sql: "INSERT INTO items (name) VALUES (?)", args: [name] });
    await expect(db.batch([insertNamed("batch-1"), insertNamed("batch-1")])).rejects.toThrow("UNIQUE");
    expect(await names(db, "batch-%")).toEqual([]);
    const results = await db.batch([insertNamed("batch-2"), "SELECT count(*) AS n FROM items WHERE name = 'batch-2'"]);
    expect([results[0]?.rowsAffected, results[1]?.rows[0]?.n]).toEqual([1, 1]);
    const reads = await db.batch(["SELECT 1 AS a", "SELECT 2 AS b"], "read");
    expect(reads.map(({ rows }) => Array.from(rows[0] as ArrayLike<unknown>))).toEqual([[1], [2]]);
  });

  test("a read batch cannot write", async () => {
    await expect(db.batch(["INSERT INTO items (name) VALUES ('sneaked')"], "read")).rejects.toThrow();
    expect(await names(db, "sneaked")).toEqual([]);
  });

  test("RETURNING returns rows, and changes are counted", async () => {
    const returning = await db.execute("INSERT INTO items (name, stock) VALUES ('back', 7) RETURNING id, stock");
    expect(returning.rows[0]).toMatchObject({ stock: 7 });
    expect(await get(db, byName, { name: "back" })).toMatchObject({ id: returning.rows[0]?.id as number });
    const updated = await db.execute("UPDATE items SET stock = 8 WHERE name = 'back'");
    expect([updated.rowsAffected, updated.rows.length]).toEqual([1, 0]);
    expect((await db.execute("DELETE FROM items WHERE name = 'nobody'")).rowsAffected).toBe(0);
  });

  test("concurrent writers through all interfaces lose no write", async () => {
    const before = (await get(db, count))?.n as number;
    await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        if (i % 3 === 0) await run(db, insert, { name: `many-${i}`, stock: i });
        else if (i % 3 === 1) await db.batch([{ sql: "INSERT INTO items (name) VALUES (?)", args: [`many-${i}`] }]);
        else await db.transaction((tx) => run(tx, insert, { name: `many-${i}`, stock: i }));
      }),
    );
    expect((await get(db, count))?.n).toBe(before + 60);
  });

  test("closing the database waits for queued writes", async () => {
    let answered = 0;
    for (let i = 0; i < 10; i++) {
      run(db, insert, { name: `drained-${i}`, stock: i }).then(
        () => answered++,
        () => {},
      );
    }
    await db.close();
    expect(answered).toBe(10);
  });
});

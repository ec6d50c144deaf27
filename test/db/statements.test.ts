import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { eq, sql } from "drizzle-orm";
import { integer, QueryBuilder, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { isBusy, mapDbError, mapServerError } from "../../src/server/db/db-errors.ts";
import { Connection } from "../../src/server/db/local/connection.ts";
import { loadFailure, loadLibsql } from "../../src/server/db/local/load-libsql.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import { scanSql } from "../../src/server/db/scan-sql.ts";
import { bind, statement } from "../../src/server/db/statement.ts";
import { LruCache } from "../../src/server/values/lru-cache.ts";
import { makeDir } from "./kinds.ts";

describe("the shape of a statement", () => {
  test.each([
    ["SELECT 1", true],
    ["  -- why\n /* so */ select 1", true],
    ["VALUES (1)", true],
    ["EXPLAIN QUERY PLAN DELETE FROM t", true],
    ["WITH x AS (SELECT 1) SELECT * FROM x", true],
    ["WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", false],
    ["WITH x AS (SELECT 1) DELETE FROM t", false],
    ["with x as (select 'update') select replace('a', 'b', 'c'), \"delete\" from x", true],
    ["WITH x AS (SELECT 1) REPLACE INTO t SELECT * FROM x", false],
    ["INSERT INTO t VALUES (1) RETURNING id", false],
    ["CREATE TABLE t (id)", false],
    ["PRAGMA table_info(t)", true],
    ["PRAGMA data_version", true],
    ["PRAGMA main.foreign_key_check", true],
    ["PRAGMA synchronous = OFF", false],
    ["PRAGMA wal_checkpoint", false],
    ["PRAGMA optimize", false],
    ["", false],
  ])("%j is read-only: %p", (text, reads) => {
    expect(scanSql(text).reads).toBe(reads);
  });

  test.each([
    ["SELECT ?, ?", 2],
    ["SELECT ?2, ?1", 2],
    ["SELECT '?', \"?\", `?`, [?], 1 -- ?\n /* ? */ , ?", 1],
    ["SELECT 'it''s ?' , ?", 1],
    ["SELECT json_extract(x, '$.a'), ?", 1],
    ["SELECT 1", 0],
  ])("%j has %p parameters", (text, params) => {
    expect(scanSql(text).params).toEqual(params);
  });

  test.each([
    ["SELECT 1;", false],
    ["SELECT 1; -- the end\n", false],
    ["SELECT ';'", false],
    ["SELECT 1; SELECT 2", true],
    ["CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END;", false],
    ["-- why\n/* and how */ CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END;", false],
    ["CREATE TABLE a (x); CREATE TABLE b (x)", true],
  ])("%j contains several statements: %p", (text, several) => {
    expect(scanSql(text).several).toBe(several);
  });
});

describe("a compiled statement", () => {
  const people = sqliteTable("people", { id: text("id"), name: text("name") });

  test("a compiled statement is compiled once from a template or a builder, and gets its values by name in any order", () => {
    const template = statement(sql`SELECT ${sql.placeholder("b")}, ${5}, ${sql.placeholder("a")}`);
    expect(bind(template, { a: 1, b: "two" })).toEqual({ sql: "SELECT ?, ?, ?", args: ["two", 5, 1] });
    const built = statement(
      new QueryBuilder()
        .select()
        .from(people)
        .where(eq(people.id, sql.placeholder("id")))
        .limit(sql.placeholder("n")),
    );
    expect(bind(built, { id: "x", n: 3 })).toEqual({
      sql: 'select "id", "name" from "people" where "people"."id" = ? limit ?',
      args: ["x", 3],
    });
  });

  test("a compiled statement refuses a missing value instead of binding another value", () => {
    const one = statement(sql`SELECT ${sql.placeholder("a")}`);
    expect(() => bind(one, { b: 1 })).toThrow("No value for a");
    expect(bind(one, { a: null })).toEqual({ sql: "SELECT ?", args: [null] });
  });

  test("a compiled statement can share its SQL with another statement, and each decodes its own columns", () => {
    const tasks = sqliteTable("tasks", { isDone: integer("is_done", { mode: "boolean" }) });
    const fields = { isDone: tasks.isDone };
    const [first, second] = [1, 2].map((limit) => statement((q) => q.select(fields).from(tasks).limit(limit)));
    expect(second?.compiled.sql).toBe(first?.compiled.sql as string);
    expect([first?.compiled.decoders.length, second?.compiled.decoders.length]).toEqual([1, 1]);
  });
});

describe("a connection that caches its statements", () => {
  async function connect(): Promise<{ connection: Connection; close: () => void }> {
    const dir = makeDir();
    const connection = new Connection(await loadLibsql(), join(dir, "test.db"));
    connection.script("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b TEXT)");
    const close = () => {
      connection.close();
      rmSync(dir, { recursive: true, force: true });
    };
    return { connection, close };
  }

  test("a connection that caches its statements never runs a statement with the arguments of an earlier call", async () => {
    const { connection, close } = await connect();
    connection.run("INSERT INTO t (a, b) VALUES (?, ?)", ["x", "first"]);
    connection.run("INSERT INTO t (a, b) VALUES (?, ?)", ["y", "second"]);
    const select = "SELECT b FROM t WHERE a = ?";
    const order = ["no", "x", "no", "y", "x", "no", "y"];
    for (const [i, a] of order.entries()) {
      const expected = a === "x" ? "first" : a === "y" ? "second" : undefined;
      const found = i % 2 === 0 ? connection.run(select, [a]).rows[0] : connection.first(select, [a]);
      expect(found?.b).toBe(expected as never);
      expect(connection.first(select, [a])?.b).toBe(expected as never);
    }
    close();
  });

  test("a connection that caches its statements works again after a statement failed half-way", async () => {
    const { connection, close } = await connect();
    const parse = "SELECT json(?) AS j";
    expect(() => connection.first(parse, ["{broken"])).toThrow("malformed");
    expect(connection.first(parse, ["[1]"])?.j).toBe("[1]");
    expect(() => connection.run(parse, ["{broken"])).toThrow("malformed");
    expect(connection.run(parse, ["[2]"]).rows[0]?.j).toBe("[2]");
    const insert = "INSERT INTO t (a) VALUES (?)";
    connection.run(insert, ["x"]);
    expect(() => connection.run(insert, ["x"])).toThrow("UNIQUE");
    expect(connection.run(insert, ["y"]).rowsAffected).toBe(1);
    close();
  });

  test("a connection that caches its statements sees a column that was added under a cached SELECT *", async () => {
    const { connection, close } = await connect();
    connection.run("INSERT INTO t (a) VALUES ('x')");
    expect(Object.keys(connection.run("SELECT * FROM t").rows[0] ?? {})).toEqual(["id", "a", "b"]);
    connection.run("ALTER TABLE t ADD COLUMN c TEXT DEFAULT 'new'");
    expect({ ...connection.run("SELECT * FROM t").rows[0] }).toEqual({ id: 1, a: "x", b: null, c: "new" });
    expect({ ...connection.first("SELECT * FROM t") }).toEqual({ id: 1, a: "x", b: null, c: "new" });
    close();
  });

  test("a connection that caches its statements refuses calls after it is closed, and closing rolls back", async () => {
    const { connection, close } = await connect();
    connection.run("BEGIN");
    connection.run("INSERT INTO t (a) VALUES ('x')");
    close();
    expect(() => connection.run("SELECT 1")).toThrow("closed");
    expect(connection.inTransaction).toBe(false);
  });
});

test("a cache removes its least recently used entries", () => {
  const cache = new LruCache<number>(2);
  for (const [i, key] of ["a", "b", "c"].entries()) cache.set(key, i);
  expect(cache.get("a")).toBe(0);
  cache.set("d", 3);
  cache.set("e", 4);
  expect([cache.get("a"), cache.get("b")]).toEqual([0, undefined]);
});

describe("errors", () => {
  const coded = (code: string, message = code) => Object.assign(new Error(message), { name: "SqliteError", code });

  test.each(
    `SQLITE_BUSY SQLITE_BUSY_SNAPSHOT SQLITE_LOCKED SQLITE_FULL SQLITE_IOERR_WRITE SQLITE_CANTOPEN SQLITE_READONLY`.split(
      /\s+/,
    ),
  )("%s is an error 5001 that contains no SQL and no paths", (code) => {
    const mapped = mapDbError(coded(code, "/secret/path: SELECT")) as Error;
    expect(mapped).toMatchObject({ code: 5001, retryAfter: 1 });
    expect(mapped.message).not.toMatch(/secret|SELECT|SQLITE/);
  });

  test("an SQL error keeps its codes, and an error of another kind is not changed", () => {
    expect(mapDbError(coded("SQLITE_CONSTRAINT_UNIQUE"))).toMatchObject({
      code: "SQLITE_CONSTRAINT",
      extendedCode: "SQLITE_CONSTRAINT_UNIQUE",
    });
    const bug = new TypeError("socket is not a function");
    expect(mapDbError(bug)).toBe(bug);
    expect(isBusy(mapDbError(coded("SQLITE_BUSY")))).toBe(true);
    expect(isBusy(mapDbError(coded("SQLITE_FULL")))).toBe(false);
  });

  test.each([
    Object.assign(new TypeError("Unable to connect. Is the computer able to access the url?"), {
      code: "ECONNREFUSED",
    }),
    new DOMException("The operation timed out.", "TimeoutError"),
    Object.assign(new Error("SERVER_ERROR: Server returned HTTP status 502"), { code: "SERVER_ERROR" }),
    Object.assign(new Error("Transaction timed out"), { code: "TRANSACTION_TIMEOUT" }),
  ])("network error %# becomes 5001", (error) => {
    expect(mapServerError(error)).toMatchObject({ code: 5001 });
  });

  test("the error of an engine that cannot be loaded names the variable that helps", () => {
    const failure = Object.assign(new Error("dlopen: /tmp/x.node: failed"), { code: "ERR_DLOPEN_FAILED" });
    expect(loadFailure(failure)).toMatchObject({ code: 5001, message: expect.stringContaining("BUN_TMPDIR") });
  });
});

test("a closed database refuses calls", async () => {
  const dataDir = makeDir();
  const db = await openDatabase({ dataDir });
  await db.close();
  await expect(db.execute("SELECT 1")).rejects.toThrow("The database is closed");
  rmSync(dataDir, { recursive: true });
});

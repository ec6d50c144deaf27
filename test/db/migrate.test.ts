import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Connection } from "../../src/server/db/local/connection.ts";
import { loadLibsql } from "../../src/server/db/local/load-libsql.ts";
import { type Migration, migrate, migrationStatus } from "../../src/server/db/migrate.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import { testMigrations } from "./fixtures.ts";
import { bareKinds, makeDir } from "./kinds.ts";
import { spawnChild } from "./spawn-child.ts";

const now = new Date(Date.UTC(2030, 0, 2, 3, 4, 5));
const first = testMigrations.slice(0, 1);

describe.each(bareKinds)("migrating a %s database", (_kind, open) => {
  test("a migration run applies pending migrations once, with complete triggers, and records the time", async () => {
    const { db, dispose } = await open();
    expect(await migrationStatus(db, testMigrations)).toEqual([
      { name: "0000_first", appliedAt: null, isKnown: true },
      { name: "0001_second", appliedAt: null, isKnown: true },
    ]);
    expect(await migrate(db, first, now)).toEqual({ applied: ["0000_first"] });
    expect(await migrate(db, testMigrations, now)).toEqual({ applied: ["0001_second"] });
    expect(await migrate(db, testMigrations, now)).toEqual({ applied: [] });
    expect(await migrationStatus(db, testMigrations)).toEqual([
      { name: "0000_first", appliedAt: "2030-01-02T03:04:05.000Z", isKnown: true },
      { name: "0001_second", appliedAt: "2030-01-02T03:04:05.000Z", isKnown: true },
    ]);
    await db.execute("INSERT INTO parents (name) VALUES ('x')");
    expect((await db.execute("SELECT entry FROM log ORDER BY entry")).rows.map((row) => row.entry)).toEqual([
      "a;x",
      "b",
    ]);
    await dispose();
  });

  test("a migration run does not change the tables of another program", async () => {
    const { db, dispose } = await open();
    await db.migrate(["CREATE TABLE theirs (id)"]);
    await expect(migrate(db, first)).rejects.toMatchObject({ code: 5302 });
    expect((await db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")).rows).toHaveLength(1);
    await dispose();
  });

  test("if one migration fails, all migrations of the run are rolled back", async () => {
    const { db, dispose } = await open();
    const broken: Migration = {
      name: "0002_broken",
      sql: "CREATE TABLE made (id);\n--> statement-breakpoint\nCREATE TABLE parents (id);",
    };
    await expect(migrate(db, [...testMigrations, broken])).rejects.toThrow("parents");
    expect(await migrationStatus(db, testMigrations)).toMatchObject([{ appliedAt: null }, { appliedAt: null }]);
    const { rows } = await db.execute("SELECT name FROM sqlite_schema WHERE name IN ('made', 'parents', 'log')");
    expect(rows).toEqual([]);
    await dispose();
  });

  test("a migration that would leave rows that refer to missing rows is rolled back", async () => {
    const { db, dispose } = await open();
    await migrate(db, first);
    await db.batch(["INSERT INTO parents (id) VALUES (1)", "INSERT INTO children (parent) VALUES (1)"]);
    const orphaning: Migration = { name: "0001_orphaning", sql: "DELETE FROM parents;" };
    const attempt = migrate(db, [...first, orphaning]);
    await expect(attempt).rejects.toMatchObject({
      code: 5001,
      message: expect.stringContaining("Nothing was changed"),
    });
    expect((await db.execute("SELECT count(*) AS n FROM parents")).rows[0]?.n).toBe(1);
    await expect(db.execute("INSERT INTO children (parent) VALUES (99)")).rejects.toThrow("FOREIGN KEY");
    await dispose();
  });

  test("a migration may rebuild a table that other tables refer to", async () => {
    const { db, dispose } = await open();
    await migrate(db, first);
    await db.batch(["INSERT INTO parents (id, name) VALUES (1, 'p')", "INSERT INTO children (parent) VALUES (1)"]);
    const rebuild: Migration = {
      name: "0001_rebuild",
      sql: [
        "PRAGMA foreign_keys=OFF;",
        "CREATE TABLE __new_parents (id INTEGER PRIMARY KEY, name TEXT NOT NULL);",
        "INSERT INTO __new_parents SELECT id, name FROM parents;",
        "DROP TABLE parents;",
        "ALTER TABLE __new_parents RENAME TO parents;",
        "PRAGMA foreign_keys=ON;",
      ].join("--> statement-breakpoint\n"),
    };
    expect(await migrate(db, [...first, rebuild])).toEqual({ applied: ["0001_rebuild"] });
    expect((await db.execute("SELECT count(*) AS n FROM children")).rows[0]?.n).toBe(1);
    await dispose();
  });

  test("a migration run refuses a schema that is newer than the program, or has an altered migration", async () => {
    const { db, dispose } = await open();
    await migrate(db, testMigrations);
    await expect(migrate(db, first)).rejects.toMatchObject({
      code: 5001,
      message: expect.stringContaining("does not know migration 0001_second"),
    });
    expect(await migrationStatus(db, first)).toMatchObject([
      { name: "0000_first", isKnown: true },
      { name: "0001_second", isKnown: false },
    ]);
    const changed = [{ name: "0000_first", sql: "CREATE TABLE other (id);" }, ...testMigrations.slice(1)];
    await expect(migrate(db, changed)).rejects.toMatchObject({
      code: 5001,
      message: expect.stringContaining("0000_first"),
    });
    await dispose();
  });

  test("if two connections migrate at the same time, one migrates and both succeed", async () => {
    const { db, dispose } = await open();
    const results = await Promise.all([1, 2, 3].map(() => migrate(db, testMigrations)));
    expect(results.flatMap(({ applied }) => applied).toSorted()).toEqual(["0000_first", "0001_second"]);
    await dispose();
  });
});

describe("on a file", () => {
  test("several processes can create the same database at once, and one of them migrates it", async () => {
    const dir = makeDir();
    const children = Array.from({ length: 4 }, () => spawnChild("migrate", dir));
    for (const child of children) expect(await child.nextLine()).toBe("ready");
    for (let round = 0; round < 4; round++) {
      for (const child of children) child.write(`database-${round}\n`);
      const applied = await Promise.all(children.map(async (child) => JSON.parse((await child.nextLine()) ?? "null")));
      expect(applied.flat().toSorted()).toEqual(["0000_first", "0001_second"]);
    }
    for (const child of children) child.kill();
    rmSync(dir, { recursive: true, force: true });
  }, 60_000);

  test("a database with data is backed up before a migration, and an empty database is not", async () => {
    const dir = makeDir();
    const db = await openDatabase({ dataDir: dir });
    await migrate(db, first, now);
    expect(existsSync(join(dir, "backups"))).toBe(false);
    await db.execute("INSERT INTO parents (name) VALUES ('precious')");
    await migrate(db, testMigrations, now);
    expect(readdirSync(join(dir, "backups"))).toEqual(["before-0001_second-20300102T030405Z.db"]);
    const backup = new Connection(await loadLibsql(), join(dir, "backups", "before-0001_second-20300102T030405Z.db"));
    expect(backup.run("SELECT name FROM parents").rows[0]?.[0]).toBe("precious");
    expect(backup.run("SELECT count(*) FROM __bodega_migrations").rows[0]?.[0]).toBe(1);
    backup.close();
    await db.close();
    rmSync(dir, { recursive: true, force: true });
  });
});

import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { nextVersion, openCli } from "./run-bodega.ts";

interface Status {
  up_to_date: boolean;
  migrations: { name: string; applied_at: string | null }[];
}

test("status of a new database lists pending migrations with exit code 1, and migrate applies them once", async () => {
  const { here: run, json, dataDir } = openCli();
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "bodega.db"), "");
  const before = await run(["db", "status", "--json"]);
  expect(before.code).toBe(1);
  const { up_to_date, migrations }: Status = JSON.parse(before.stdout);
  expect(up_to_date).toBe(false);
  expect(migrations.map(({ applied_at }) => applied_at)).toEqual(migrations.map(() => null));
  expect(await json<unknown>("db", "migrate")).toEqual({ applied: migrations.map(({ name }) => name) });
  expect(await json<unknown>("db", "migrate")).toEqual({ applied: [] });
  const after = await json<Status>("db", "status");
  expect(after.up_to_date).toBe(true);
  expect(after.migrations.every(({ applied_at }) => applied_at !== null)).toBe(true);
  expect((await run(["db", "status"])).stdout).toMatch(/^MIGRATION +APPLIED\n0000_/);
});

describe("a schema of another version is not changed", () => {
  async function change(dataDir: string, statement: string): Promise<void> {
    const db = await openStoreDatabase({ dataDir });
    await db.execute(statement);
    await db.close();
  }

  test("an older one, until db migrate is run", async () => {
    const { dataDir, json } = openCli();
    await json("tenant", "create", "demo");
    const next = openCli(dataDir, nextVersion);
    const { code, error } = await next.failure("tenant", "list");
    expect({ code, says: error.message }).toEqual({ code: 4, says: expect.stringContaining("bodega db migrate") });
    expect(await next.json("db", "migrate")).toEqual({ applied: ["0001_next"] });
    expect(await next.json<unknown>("tenant", "list")).toMatchObject([{ namespace: "demo" }]);
    expect(readdirSync(join(dataDir, "backups"))).toEqual([expect.stringMatching(/^before-0001_next-/)]);
  });

  test("a newer one", async () => {
    const { dataDir, json, failure } = openCli();
    await json("tenant", "create", "demo");
    await change(dataDir, "insert into __bodega_migrations values ('9999_later', 'x', '2030-01-01T00:00:00Z')");
    for (const line of [
      ["tenant", "list"],
      ["tenant", "create", "another"],
      ["db", "migrate"],
    ]) {
      const { code, error } = await failure(...line);
      expect({ code, says: error.message }).toEqual({
        code: 4,
        says: expect.stringContaining("does not know migration 9999_later"),
      });
    }
  });
});

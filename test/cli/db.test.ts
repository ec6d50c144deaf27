import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { acquireServerLock } from "../../src/server/db/local/file-lock.ts";
import { claimDatabase, openVault } from "../../src/server/security/secret-key.ts";
import { nextVersion, openCli } from "./run-bodega.ts";

interface Status {
  up_to_date: boolean;
  migrations: { name: string; applied_at: string | null }[];
}

test("db status of a new database lists pending migrations with exit code 1, and db migrate applies them once", async () => {
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

describe("a database with a schema of another version", () => {
  async function change(dataDir: string, statement: string): Promise<void> {
    const db = await openStoreDatabase({ dataDir });
    await db.execute(statement);
    await db.close();
  }

  test("a database with an older schema is not changed until db migrate runs", async () => {
    const { dataDir, json } = openCli();
    await json("tenant", "create", "demo");
    const next = openCli(dataDir, nextVersion);
    const { code, error } = await next.failure("tenant", "list");
    expect({ code, says: error.message }).toEqual({ code: 4, says: expect.stringContaining("bodega db migrate") });
    expect(await next.json("db", "migrate")).toEqual({ applied: ["0001_next"] });
    expect(await next.json<unknown>("tenant", "list")).toMatchObject([{ namespace: "demo" }]);
    expect(readdirSync(join(dataDir, "backups"))).toEqual([expect.stringMatching(/^before-0001_next-/)]);
  });

  test("a database with a newer schema is never changed", async () => {
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

test("without the secret key, no server starts until db rekey has run; db rekey is refused while a server runs", async () => {
  const { dataDir, json, failure, run } = openCli();
  await json("tenant", "create", "demo");
  const db = await openStoreDatabase({ dataDir });
  await claimDatabase(db, await openVault({ secret: undefined, dataDir }, db));
  await db.close();
  rmSync(join(dataDir, "secret.key"));
  const refused = await run(["serve", "--port", "0"]);
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining("bodega db rekey") });
  const lock = await acquireServerLock(dataDir);
  expect(await failure("db", "rekey", "--yes")).toMatchObject({ code: 4, error: { code: 5306 } });
  lock?.close();
  expect(await json("db", "rekey", "--yes")).toMatchObject({ rekeyed: true, mail_dropped: 0, webhooks: [] });
  expect(await json("db", "rekey", "--yes")).toMatchObject({ rekeyed: false });
  expect(await json<unknown[]>("audit", "list", "--event", "database.rekeyed")).toHaveLength(1);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { hasSqld, type Sqld, startSqld } from "../support/sqld.ts";
import { makeDir, openCli } from "./run-bodega.ts";

// The server's executable exists for one platform only.
if (hasSqld) {
  let from: Sqld;
  let to: Sqld;

  beforeAll(async () => {
    [from, to] = await Promise.all([startSqld(), startSqld()]);
  });
  afterAll(() => Promise.all([from.stop(), to.stop()]));

  test("a database server's backup restores to a file or to an empty server, and to no other", async () => {
    const { json, failure, dataDir } = openCli();
    await json("tenant", "create", "demo", "--database-url", from.url);
    const create = "user create -n demo --email ada@example.com --random-password --database-url".split(" ");
    await json(...create, from.url);
    const dir = makeDir();
    const backUp = ["db", "backup", "--to", dir, "--database-url", from.url];
    const made = await json<{ backup: string; stores: number }>(...backUp);
    expect(made.stores).toBe(1);

    await json("db", "restore", made.backup, "--yes");
    expect(await json<unknown>("user", "list", "-n", "demo")).toMatchObject([{ email: "ada@example.com" }]);
    expect(await json<unknown>("audit", "list", "--event", "database.restored")).toHaveLength(1);
    expect(existsSync(join(dataDir, "bodega.db"))).toBe(true);

    const { code, error } = await failure("db", "restore", made.backup, "--yes", "--database-url", from.url);
    expect({ code, number: error.code }).toEqual({ code: 4, number: 5302 });
    const target = ["--database-url", to.url];
    expect(await json<unknown>("db", "restore", made.backup, "--dry-run", ...target)).toMatchObject({
      restored: false,
    });
    expect(await json<unknown>("db", "restore", made.backup, "--yes", ...target)).toMatchObject({
      restored: true,
      kept: null,
    });
    expect(await json<unknown>("user", "list", "-n", "demo", ...target)).toMatchObject([{ email: "ada@example.com" }]);
    expect(await json<unknown>("audit", "verify", ...target)).toMatchObject({ intact: true });
  });
}

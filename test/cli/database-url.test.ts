import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { hasSqld, type Sqld, startSqld } from "../support/sqld.ts";
import { type CalledCommand, fullLine, listCalledCommands } from "./every-command.ts";
import { usePromisedShapes } from "./json-shapes.ts";
import { usePreparedShop } from "./prepared-shop.ts";
import { makeDir, openCli, useServers } from "./run-bodega.ts";

const { here: run, json, failure, dataDir } = openCli();
let server: Sqld;

beforeAll(async () => {
  if (hasSqld) server = await startSqld();
});
afterAll(() => server?.stop());

// The server's executable exists for one platform only.
if (hasSqld) {
  test("commands work on the libSQL server of a flag or environment variable, and need no data directory", async () => {
    const made = await json("tenant", "create", "demo", "--database-url", server.url);
    expect(await json<unknown[]>("tenant", "list", "--database-url", server.url)).toMatchObject([made]);
    const { code, stdout, stderr } = await run(["key", "issue", "-n", "demo", "--name", "web", "--json"], {
      env: { BODEGA_DATABASE_URL: server.url },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ namespace: "demo" });
    expect(await json<unknown[]>("key", "list", "-n", "demo", "--database-url", server.url)).toHaveLength(1);
    expect(await failure("tenant", "create", "demo", "--database-url", server.url)).toMatchObject({ code: 4 });
    expect(existsSync(dataDir)).toBe(false);
  });

  test("doctor reports a libSQL server that acknowledges writes before they are on its disk", async () => {
    const subjects = async () => {
      const { stdout } = await run(["doctor", "--json", "--database-url", server.url]);
      const { findings } = JSON.parse(stdout) as { findings: { check: string; severity: string }[] };
      return findings.filter(({ check }) => check === "durability").map(({ severity }) => severity);
    };
    expect(await subjects()).toEqual([]);
    await server.setDurability("relaxed");
    expect(await subjects()).toEqual(["error"]);
    await server.setDurability("strong");
  });
}

test("a command ends with exit code 4 if the libSQL server does not answer", async () => {
  const { code, error } = await failure("tenant", "list", "--database-url", "http://127.0.0.1:9");
  expect({ code, error: error.code }).toEqual({ code: 4, error: 5001 });
});

// The server's executable exists for one platform only.
if (hasSqld) {
  test("a backup of a libSQL server can be restored to a file or an empty libSQL server only", async () => {
    const { json, failure, dataDir } = openCli();
    const from = server;
    const to = await startSqld();
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
    await to.stop();
  });
}

const copyShop = usePreparedShop();
const expectShape = await usePromisedShapes();
const commands = await listCalledCommands();
const servers = commands
  .filter(({ call }) => call.server === "is")
  .map((called): [string, CalledCommand] => [called.name, called]);

const start = useServers();

test.each(servers)("bodega %s --json prints one JSON value and runs until it is stopped", async (name, called) => {
  const shop = copyShop();
  const server = await start([...fullLine(called, shop), "--json"], { env: shop.env, cwd: shop.dir });
  expect(await server.end()).toBe(0);
  expectShape(name, JSON.parse(server.stdout()));
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { hasSqld, type Sqld, startSqld } from "../support/sqld.ts";
import { openCli } from "./run-bodega.ts";

const { run, json, failure, dataDir } = openCli();

// The server's executable exists for one platform only.
if (hasSqld) {
  let server: Sqld;

  beforeAll(async () => {
    server = await startSqld();
  });
  afterAll(() => server.stop());

  test("commands work on a database server, named by flag or environment, and need no data directory", async () => {
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

  test("doctor tells of a database server that acknowledges writes before they are on its disk", async () => {
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

test("a database server that does not answer is exit code 4", async () => {
  const { code, error } = await failure("tenant", "list", "--database-url", "http://127.0.0.1:9");
  expect({ code, error: error.code }).toEqual({ code: 4, error: 5001 });
});

test("an invalid address is exit code 2", async () => {
  expect(await failure("tenant", "list", "--database-url", "postgres://localhost/db")).toMatchObject({ code: 2 });
});

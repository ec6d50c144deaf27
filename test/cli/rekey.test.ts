import { afterEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openCli, useServers } from "./run-bodega.ts";

const start = useServers(afterEach);

/** Returns a data directory that a server has used, and a function that starts the server again. */
async function openServed() {
  const cli = openCli();
  await cli.json("tenant", "create", "demo");
  const serve = () => start(["serve", "--port", "0"], { env: cli.environment() });
  return { ...cli, serve, keyFile: join(cli.dataDir, "secret.key") };
}

test("without its key, a database starts no server until it is rekeyed", async () => {
  const { serve, run, json, failure, keyFile } = await openServed();
  await (await serve()).end();
  rmSync(keyFile);
  const refused = await run(["serve", "--port", "0"]);
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining("bodega db rekey") });
  expect(await failure("db", "rekey")).toMatchObject({ code: 2, error: { details: [{ field: "--yes" }] } });
  const nothing = {
    mail_dropped: 0,
    reset_codes_dropped: 0,
    registrations_dropped: 0,
    two_factor_users: [],
    webhooks: [],
    payment_accounts: [],
  };
  expect(await json("db", "rekey", "--yes")).toEqual({ rekeyed: true, ...nothing });
  expect(await json("db", "rekey", "--yes")).toEqual({ rekeyed: false, ...nothing });
  expect((await (await serve()).end()).valueOf()).toBe(0);
  expect(await json<unknown[]>("audit", "list", "--event", "database.rekeyed")).toHaveLength(1);
});

test("while a server runs, nothing is changed", async () => {
  const { serve, failure, json } = await openServed();
  const server = await serve();
  expect(await failure("db", "rekey", "--yes")).toMatchObject({ code: 4, error: { code: 5306 } });
  await server.end();
  expect(await json<unknown[]>("audit", "list", "--event", "database.rekeyed")).toEqual([]);
});

import { expect, test } from "bun:test";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { type Binary, type IssuedKey, openShop, useBinaries } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { defaultDataDir, inspectDatabase, startLoad } from "./load.ts";

const { installBinary } = useBinaries();

const commandProcesses = 8;
const httpClients = 64;

/** A store that one process has created, with a published key. */
interface Done {
  namespace: string;
  appId: string;
}

/** Runs two commands one after another, while seven other processes do the same. */
async function administer(binary: Binary, namespace: string): Promise<Done> {
  await binary.json("tenant", "create", namespace);
  const { app_id } = await binary.json<IssuedKey>("key", "issue", "-n", namespace, "--name", "web", "--publish");
  return { namespace, appId: app_id };
}

/** Reads all published keys, each with its store. */
async function readKeys(dataDir: string): Promise<Done[]> {
  const database = await openStoreDatabase({ dataDir });
  try {
    const { rows } = await database.execute(
      "select t.namespace, k.id as appId from tenants t join app_keys k on k.tenant_id = t.id where k.published",
    );
    return rows.map((row) => ({ ...row }) as unknown as Done);
  } finally {
    await database.close();
  }
}

test("eight command processes and 64 clients of a server with two workers write at once, and nothing is lost", async () => {
  const binary = installBinary();
  const { namespace, auth } = await openShop(binary);
  const server = await binary.serve("--workers", "2");
  const load = startLoad({ url: server.url, namespace, auth, clients: httpClients, contended: true });
  await until("the load", () => load.created.length >= httpClients);

  const names = Array.from({ length: commandProcesses }, (_, index) => `admin-${index}`);
  const done = await Promise.all(names.map((name) => administer(binary, name)));
  await load.stop();

  expect(load.refused).toEqual([]);
  expect(load.cut()).toBe(0);
  expect(await server.end()).toBe(0);

  expect(await readKeys(defaultDataDir(binary.dir))).toEqual(expect.arrayContaining(done));
  const { integrity, products } = await inspectDatabase(defaultDataDir(binary.dir));
  expect(integrity).toBe("ok");
  expect(products.size).toBe(load.created.length);
  expect(load.created.filter((id) => !products.has(id))).toEqual([]);
}, 120_000);

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { type Binary, openShop, useBinaries } from "../support/binary.ts";
import { hasSqld, type Sqld, startSqld } from "../support/sqld.ts";
import { until } from "../support/until.ts";
import { defaultDataDir, startLoad } from "./load.ts";

const { installBinary } = useBinaries();
const clients = 4;

describe.if(hasSqld)("two libSQL servers", () => {
  const servers: Sqld[] = [];

  beforeAll(async () => {
    servers.push(...(await Promise.all([startSqld(), startSqld()])));
  }, 30_000);
  afterAll(async () => {
    for (const server of servers) await server.stop();
  });

  function install({ url }: Sqld): Binary {
    const binary = installBinary();
    binary.env.BODEGA_DATABASE_URL = url;
    return binary;
  }

  async function productsAt({ url }: Sqld): Promise<Set<string>> {
    const db = await openStoreDatabase({ dataDir: "unused", url });
    const { rows } = await db.execute("select id from products");
    await db.close();
    return new Set(rows.map((row) => String(row.id)));
  }

  test("a backup that is made while a server runs has all acknowledged writes when it is restored to another libSQL server", async () => {
    const from = install(servers[0] as Sqld);
    const to = install(servers[1] as Sqld);
    const { namespace, auth } = await openShop(from);
    const serving = await from.serve();
    const load = startLoad({ url: serving.url, namespace, auth, clients });
    await until("the load", () => load.created.length >= 10 * clients);
    const before = [...load.created];
    const { backup } = await from.json<{ backup: string }>("db", "backup");
    await load.stop();
    expect(load.refused).toEqual([]);
    expect(await serving.end()).toBe(0);

    mkdirSync(defaultDataDir(to.dir), { mode: 0o700 });
    copyFileSync(join(defaultDataDir(from.dir), "secret.key"), join(defaultDataDir(to.dir), "secret.key"));
    await to.json("db", "restore", backup, "--yes");
    expect(await to.json("db", "check")).toMatchObject({ ok: true, findings: [] });
    expect(await to.json("audit", "verify")).toMatchObject({ intact: true });
    const kept = await productsAt(servers[1] as Sqld);
    expect(before.filter((id) => !kept.has(id))).toEqual([]);
    const again = await to.serve();
    const last = `${again.url}/products/${before.at(-1)}/?namespace=${namespace}`;
    expect((await fetch(last, { headers: { authorization: auth } })).status).toBe(200);
    expect(await again.end()).toBe(0);
    expect((await to.run("db", "restore", backup, "--yes")).code).toBe(4);
  }, 60_000);
});

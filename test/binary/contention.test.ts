import { expect, test } from "bun:test";
import { type Binary, type IssuedKey, openShop, useBinaries } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { defaultDataDir, inspectDatabase, startLoad } from "./load.ts";

const { installBinary } = useBinaries();

const commandProcesses = 8;
const httpClients = 64;

/** The result of one of the eight processes, whose commands all succeeded; otherwise it throws. */
interface Done {
  namespace: string;
  appId: string;
  origin: string;
}

/** Three commands, one after another, while the other seven processes do the same. */
async function administer(binary: Binary, namespace: string): Promise<Done> {
  const origin = `${namespace}.example.com`;
  await binary.json("tenant", "create", namespace, "--title", `Store ${namespace}`);
  const { app_id } = await binary.json<IssuedKey>("key", "issue", "-n", namespace, "--name", "web", "--publish");
  await binary.json("origin", "set", app_id, origin);
  return { namespace, appId: app_id, origin };
}

test.each([1, 2])(
  "eight command processes and 64 clients of a server with %d worker(s) write at once, and nothing is lost",
  async (workers) => {
    const binary = installBinary();
    const { namespace, auth } = await openShop(binary);
    const server = await binary.serve("--workers", String(workers));
    const load = startLoad({ url: server.url, namespace, auth, clients: httpClients });
    await until("the load", () => load.created.length >= httpClients);

    const names = Array.from({ length: commandProcesses }, (_, index) => `admin-${index}`);
    const done = await Promise.all(names.map((name) => administer(binary, name)));
    await load.stop();

    expect(load.refused).toEqual([]);
    expect(load.cut()).toBe(0);
    const tenants = await binary.json<{ namespace: string; title: string }[]>("tenant", "list");
    const keys = await Promise.all(done.map((made) => binary.json<IssuedKey[]>("key", "list", "-n", made.namespace)));
    for (const [index, { namespace: made, appId, origin }] of done.entries()) {
      expect(tenants).toContainEqual(expect.objectContaining({ namespace: made, title: `Store ${made}` }));
      expect(keys[index]).toEqual([
        expect.objectContaining({ app_id: appId, published: true, origins: [origin], enforce_origins: true }),
      ]);
    }
    expect(await server.end()).toBe(0);

    const { integrity, products } = await inspectDatabase(defaultDataDir(binary.dir));
    expect(integrity).toBe("ok");
    expect(products.size).toBe(load.created.length);
    expect(load.created.filter((id) => !products.has(id))).toEqual([]);
  },
  120_000,
);

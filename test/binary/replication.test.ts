import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openShop, useBinaries } from "../support/binary.ts";
import { until } from "../support/until.ts";
import { defaultDataDir, inspectDatabase, startLoad } from "./load.ts";

const { installBinary, makeDir } = useBinaries();

/** The number of rounds. Each round kills a server and restores its replica; set more for a thorough run. */
const rounds = Number(process.env.BODEGA_TEST_REPLICAS ?? 1);
/** The milliseconds whose writes may be lost: the last second, and one upload on a busy machine. */
const maxLostMs = 3000;

test("after kill -9 and the loss of the data directory, the replica lacks at most the last seconds", async () => {
  const binary = installBinary();
  const { auth, namespace } = await openShop(binary);
  const place = makeDir();
  const dataDir = defaultDataDir(binary.dir);
  const key = join(makeDir(), "secret.key");
  const safe = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    const server = await binary.serve("--replicate-to", place);
    await until("the replica", () => /snapshot made|goes on/.test(server.log()));
    const load = startLoad({ url: server.url, namespace, auth, clients: 8 });
    await until("a product", () => load.created.length > 0);
    await Bun.sleep(Math.random() * 1000);
    const early = [...load.created];
    await Bun.sleep(maxLostMs);
    server.signal("SIGKILL");
    await server.exited;
    await load.stop();
    for (const id of early) safe.add(id);

    copyFileSync(join(dataDir, "secret.key"), key);
    rmSync(dataDir, { recursive: true });
    mkdirSync(dataDir, { mode: 0o700 });
    copyFileSync(key, join(dataDir, "secret.key"));
    const restored = await binary.json<{ restored: boolean }>("db", "restore", place, "--yes");
    expect(restored.restored).toBe(true);
    const { integrity, products } = await inspectDatabase(dataDir);
    expect(integrity).toBe("ok");
    expect([...safe].filter((id) => !products.has(id))).toEqual([]);
    expect((await binary.run("audit", "verify")).code).toBe(0);
    expect((await binary.run("doctor", "-q")).stdout).not.toContain("prod_");
  }
}, 120_000);

test("a server with a restored backup does not replace the replica of the live server", async () => {
  const place = makeDir();
  const live = installBinary();
  await openShop(live);
  const settings = ["--replicate-to", place];
  const server = await live.serve(...settings);
  await until("the replica", () => server.log().includes("snapshot made"));
  const backup = join(makeDir(), "shop.tar.gz");
  await live.json("db", "backup", "--to", backup);
  await openShop(live, "later");
  const preview = () => live.json<{ backup: { stores: number } }>("db", "restore", place, "--dry-run");
  await until("its changes", async () => (await preview()).backup.stores === 2);
  const drill = installBinary();
  const target = join(drill.dir, "bodega-data");
  mkdirSync(target, { mode: 0o700 });
  copyFileSync(join(defaultDataDir(live.dir), "secret.key"), join(target, "secret.key"));
  drill.env.BODEGA_REPLICATE_TO = place;
  await drill.json("db", "restore", backup, "--yes");
  const refused = await drill.run("serve", "--port", "0");
  expect(refused).toMatchObject({ code: 4, stdout: "" });
  expect(refused.stderr).toContain("is not in this database");
  expect(refused.stderr).toContain(`bodega db restore ${place} --dry-run`);
  expect(await server.end()).toBe(0);
  const taking = await drill.serve("--replace-replica");
  await until("the replica", () => taking.log().includes("snapshot made"));
  const [, at = ""] = /To restore that state: \S+ db restore \S+ --at (\S+)/.exec(taking.log()) ?? [];
  expect(await taking.end()).toBe(0);
  const kept = await drill.json<{ backup: { stores: number } }>("db", "restore", place, "--at", at, "--dry-run");
  expect(kept.backup.stores).toBe(2);
}, 60_000);

test("doctor reports failing replication", async () => {
  const binary = installBinary();
  await openShop(binary);
  const place = join(makeDir(), "file");
  await Bun.write(place, "not a directory");
  const server = await binary.serve("--replicate-to", place);
  await until("the failure", () => server.log().includes("replication fails"));
  const doctor = await binary.run("doctor", "--json");
  const { findings } = JSON.parse(doctor.stdout) as { findings: unknown[] };
  expect(findings).toContainEqual(expect.objectContaining({ check: "replication", subject: place }));
  expect(await server.end()).toBe(0);
}, 30_000);

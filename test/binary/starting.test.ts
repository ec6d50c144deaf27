import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { openShop, useBinaries } from "../support/binary.ts";
import { checkDiscretion } from "../support/invariants.ts";
import { until } from "../support/until.ts";

const { installBinary } = useBinaries();

test("a starting server prints the absolute path of its data directory, with --json as one JSON value", async () => {
  const binary = installBinary();
  const server = await binary.serve("--data-dir", "some/../other/place", "--workers", "2");
  expect(server.stdout()).toContain(`\nData directory: ${join(binary.dir, "other/place")}\n`);
  expect(await server.end()).toBe(0);
  const second = await binary.serve("--json");
  expect(await second.end()).toBe(0);
  expect(JSON.parse(second.stdout())).toEqual({ url: second.url, data_dir: join(binary.dir, "bodega-data") });
});

test("a server that finds its database busy at the start ends with exit code 1, so that a service manager starts it again", async () => {
  const binary = installBinary();
  await openShop(binary);
  const database = new Database(join(binary.dir, "bodega-data/bodega.db"));
  database.run("begin immediate");
  const { code, stderr } = await binary.run("serve", "--port", "0");
  database.run("rollback");
  database.close();
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("database is busy") });
}, 30_000);

describe.each([1, 2])("with %d worker(s)", (workers) => {
  const flags = ["--workers", String(workers)];

  test("a second server with the same port or data directory, even by another path, is refused without disturbing the first", async () => {
    const [first, second] = [installBinary(), installBinary()];
    const server = await first.serve(...flags);
    const dataDir = join(first.dir, "bodega-data");
    const free = ["--port", "0"];
    const inUse = `Another server uses ${dataDir}`;
    for (const [binary, more, message] of [
      [second, ["--port", String(server.port), ...flags], `127.0.0.1:${server.port} is in use`],
      [first, free, inUse],
      [second, [...free, "--data-dir", dataDir], inUse],
    ] as const) {
      const { code, stdout, stderr } = await binary.run("serve", ...more);
      expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: "", stderr: expect.stringContaining(message) });
      checkDiscretion(stderr);
    }
    for (let attempt = 0; attempt < 8; attempt++) {
      const { status } = await fetch(`${server.url}/health/ready`, { keepalive: false });
      expect(status).toBe(200);
    }
    expect(await server.end()).toBe(0);
    const next = await first.serve();
    expect(await next.end()).toBe(0);
  });

  test("a server stops when its database file is moved away, and its last writes can be restored", async () => {
    const binary = installBinary();
    const { auth } = await openShop(binary);
    const server = await binary.serve(...flags);
    const headers = { authorization: auth, "content-type": "application/json" };
    const body = JSON.stringify({ title: "Lamp", price: 1 });
    const write = () => fetch(`${server.url}/products/?namespace=demo`, { method: "POST", headers, body });
    const count = async ({ url }: { url: string }) => {
      const list = await fetch(`${url}/products/?namespace=demo&include_total=true`, { headers });
      return ((await list.json()) as { page: { total: number } }).page.total;
    };
    expect((await write()).status).toBe(201);
    const file = join(binary.dir, "bodega-data/bodega.db");
    const log = statSync(`${file}-wal`);
    renameSync(file, `${file}.moved`);
    // Writes until the server has ended. Each write gets a reply or a closed connection, and creates no new file.
    while (await write().catch(() => null));
    expect(await server.exited).toBe(4);
    expect(server.log()).toContain("was removed or replaced");
    expect(existsSync(file)).toBe(false);
    // The WAL must be gone too: SQLite would apply it to a new database file in its place.
    expect(existsSync(`${file}-wal`)).toBe(false);
    const name = readdirSync(dirname(file)).find((entry) => entry.startsWith("bodega.db-wal.orphaned-")) ?? "none";
    const aside = join(dirname(file), name);
    expect(statSync(aside).size).toBeGreaterThanOrEqual(log.size);
    expect(server.log()).toContain(`is kept as ${aside}`);

    renameSync(`${file}.moved`, file);
    const second = await binary.serve();
    const line = `${aside} has the last writes to a database file that was removed or replaced.`;
    await until("the line of the log", () => second.log().includes(line));
    expect(await count(second)).toBe(0);
    await second.end("SIGKILL");
    expect((await binary.run("doctor")).stdout).toContain("rename the WAL to bodega.db-wal");
    renameSync(aside, `${file}-wal`);
    rmSync(`${file}-shm`, { force: true });
    const third = await binary.serve();
    expect(await count(third)).toBe(1);
    expect(await third.end()).toBe(0);
  });

  test("a server stops when its WAL is removed, and the database stays intact", async () => {
    const binary = installBinary();
    await openShop(binary);
    const server = await binary.serve(...flags);
    await binary.run("tenant", "create", "second");
    rmSync(join(binary.dir, "bodega-data/bodega.db-wal"));
    expect(await server.exited).toBe(4);
    expect((await binary.run("tenant", "list")).code).toBe(0);
  });
});

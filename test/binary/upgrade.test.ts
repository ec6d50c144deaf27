import { Database } from "bun:sqlite";
import { afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { appendFileSync, chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { readServerStatus } from "../../src/server/monitoring/listeners.ts";
import { type Binary, openShop, useBinaries } from "../support/binary.ts";
import { build, linkOrCopy } from "../support/executable.ts";
import { until } from "../support/until.ts";
import { defaultDataDir, inspectDatabase, startLoad } from "./load.ts";
import { installUnit, type Unit } from "./unit.ts";

const { installBinary, makeDir } = useBinaries();
const { version: present } = manifest;
const next = "99.0.0";
const timeoutMs = 60_000;
/** The executable of a later version, with SHA256SUMS beside it. */
let file: string;
let binary: Binary;
let unit: Unit;

beforeAll(() => {
  file = join(makeDir(), `bodega-${next}`);
  build("--entry", join(import.meta.dir, "../support/next-executable.ts"), "--version", next, "--outfile", file);
  listChecksum(file);
}, timeoutMs);

beforeEach(() => {
  binary = installBinary();
  unit = installUnit(binary, makeDir());
});

afterEach(() => unit.stop());

/** Adds a file to the SHA256SUMS in its directory. */
function listChecksum(path: string, hash = Bun.SHA256.hash(readFileSync(path), "hex")) {
  appendFileSync(join(dirname(path), "SHA256SUMS"), `${hash}  ${basename(path)}\n`);
}

/** Creates a shop, and starts its server as a systemd unit. */
async function serveShop() {
  const shop = await openShop(binary);
  unit.start();
  await until("the server", () => unit.log().includes("listens on"));
  return shop;
}

/** Reads the version of the executable, the version of the running server, and the server's health. */
async function readVersions() {
  const { version } = await binary.json("version");
  const status = await readServerStatus(defaultDataDir(binary.dir));
  const health = await fetch(`${unit.url}/health/ready`, { keepalive: false }).catch(() => undefined);
  return [version, status?.version, health?.status];
}

/** Creates products before, during and after a command. */
async function underLoad(work: () => ReturnType<Binary["run"]>) {
  const { namespace, auth } = await serveShop();
  const load = startLoad({ url: unit.url, namespace, auth, clients: 2, persistent: true });
  await until("some products", () => load.created.length > 30);
  const outcome = await work();
  const before = load.created.length;
  await until("more products", () => load.created.length > before + 30);
  await load.stop();
  return { outcome, load };
}

test(
  "an upgrade with a migration loses no acknowledged product; upgrade --back restores the earlier database, and keeps a copy of the newer one",
  async () => {
    binary.env.NEXT_SCHEMA = "1";
    const { outcome, load } = await underLoad(() => binary.run("upgrade", file, "--yes", "--json"));
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    const report = JSON.parse(outcome.stdout);
    expect(report).toMatchObject({ installed: true, from: present, to: next, migrations: ["0001_next"], kept: null });
    expect(existsSync(report.backup)).toBe(true);
    expect(await readVersions()).toEqual([next, next, 200]);
    const { products } = await inspectDatabase(defaultDataDir(binary.dir));
    expect(load.created.filter((id) => !products.has(id))).toEqual([]);

    // If systemd cannot stop the server, nothing is changed.
    binary.env.STOP_REFUSED = "1";
    const refused = await binary.run("upgrade", "--back", "--yes");
    expect(refused).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/systemctl stop .* failed: Access denied/),
    });
    delete binary.env.STOP_REFUSED;
    expect(await readVersions()).toEqual([next, next, 200]);

    const back = await binary.json<{ kept: string }>("upgrade", "--back", "--yes");
    expect(await readVersions()).toEqual([present, present, 200]);
    const { products: earlier } = await inspectDatabase(defaultDataDir(binary.dir));
    const lost = load.created.filter((id) => !earlier.has(id));
    expect(lost.length).toBeGreaterThan(0);
    // The database has the products from before the migration.
    expect(lost.length).toBeLessThan(load.created.length - 30);
    expect(existsSync(back.kept)).toBe(true);
  },
  timeoutMs,
);

test(
  "upgrade --back after an upgrade without a migration loses no data",
  async () => {
    const { outcome, load } = await underLoad(() => binary.run("upgrade", file, "--yes"));
    expect(outcome).toMatchObject({ code: 0 });
    // A keep-alive connection may be closed, but no connection is refused.
    expect(load.cut()).toBeLessThan(3);
    expect(await readVersions()).toEqual([next, next, 200]);
    const { code, stderr } = await binary.run("upgrade", "--back", "--yes", "-q");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await readVersions()).toEqual([present, present, 200]);
    const { products } = await inspectDatabase(defaultDataDir(binary.dir));
    expect(load.created.filter((id) => !products.has(id))).toEqual([]);
  },
  timeoutMs,
);

test.each([
  [
    "before it replaces the running server",
    { NEXT_FAILS: "early" },
    "The new server cannot start, so the present one goes on.",
  ],
  ["after a migration", { NEXT_FAILS: "late", NEXT_SCHEMA: "1" }, "The started server ended."],
])(
  "if a new version ends %s, the previous version is restored, and no acknowledged product is lost",
  async (_when, faults, reason) => {
    Object.assign(binary.env, faults);
    const { outcome, load } = await underLoad(() => binary.run("upgrade", file, "--yes"));
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain(`version ${present} is back: ${reason}`);
    expect(outcome.stderr).toContain("journalctl -u bodega.service");
    expect(await readVersions()).toEqual([present, present, 200]);
    const { products } = await inspectDatabase(defaultDataDir(binary.dir));
    expect(load.created.filter((id) => !products.has(id))).toEqual([]);
    expect(existsSync(`${binary.path}.previous`)).toBe(false);
  },
  timeoutMs,
);

test(
  "an older version that knows the schema can be installed; the commit distinguishes builds of the same version",
  async () => {
    await openShop(binary);
    const old = join(makeDir(), "bodega");
    linkOrCopy(binary.path, old);
    listChecksum(old);
    const install = ["upgrade", old, "--yes"];
    const { commit } = await binary.json("version");
    expect((await binary.run("upgrade", old)).stderr).toContain(`with version ${present} (commit ${commit})`);
    expect(await binary.run("upgrade", file, "--yes")).toMatchObject({ code: 0 });
    expect(await binary.run(...install)).toMatchObject({ code: 0 });
    expect(await binary.json("version")).toMatchObject({ version: present });
    const database = new Database(join(binary.dir, "bodega-data/bodega.db"));
    database.run("UPDATE __bodega_migrations SET hash = 'other'");
    database.close();
    expect((await binary.run("db", "status")).stderr).toContain("Another build");
    const { code, stderr } = await binary.run(...install);
    expect([code, stderr]).toEqual([4, expect.stringContaining("does not know migration 0000_initial")]);
    // Nothing was migrated, so the output must not suggest to go back.
    expect(stderr).not.toContain("--back");
  },
  timeoutMs,
);

test(
  "a file that cannot be the next version is refused, and the server continues",
  async () => {
    await serveShop();
    const dir = makeDir();
    const make = (name: string, content: Buffer | string, hash?: string) => {
      writeFileSync(join(dir, name), content, { mode: 0o755 });
      listChecksum(join(dir, name), hash);
      return ["upgrade", join(dir, name)];
    };
    const head = readFileSync(file).subarray(0, 4096);
    const locked = make("locked", head);
    chmodSync(join(dir, "locked"), 0o644);
    // Changes the machine type in the header of the executable: ARM on x64, x64 on ARM.
    head.writeUInt16LE(process.arch === "x64" ? 183 : 62, 18);
    for (const [line, message] of [
      [["upgrade", join(dir, "none")], "not found"],
      [make("altered", head, "0".repeat(64)), "The checksum of"],
      [locked, "chmod +x"],
      [make("other-machine", head), "is not a Bodega executable for this machine"],
      [make("script", "#!/bin/sh\necho '{}'\n"), "is not a Bodega executable for this machine"],
      [["upgrade", "--back"], "not found"],
      [["upgrade", file], "--yes"],
    ] as const) {
      const { code, stdout, stderr } = await binary.run(...line);
      expect({ line, code: code > 0, stdout, stderr }).toEqual({
        ...{ line: [...line], code: true, stdout: "" },
        stderr: expect.stringContaining(message),
      });
    }
    expect(await binary.json("upgrade", file, "--dry-run")).toMatchObject({ installed: false, to: next });
    expect(await readVersions()).toEqual([present, present, 200]);
    expect(existsSync(`${binary.path}.next`)).toBe(false);
  },
  timeoutMs,
);

test(
  "an upgrade is refused while a server runs outside systemd; without a running server, the executable is replaced and keeps its file mode",
  async () => {
    await openShop(binary);
    chmodSync(binary.path, 0o750);
    const server = await binary.serve();
    const refused = await binary.run("upgrade", file, "--yes");
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining(`kill ${server.pid}`) });
    expect(await binary.json("version")).toMatchObject({ version: present });
    expect(await server.end()).toBe(0);
    expect(await binary.run("upgrade", file, "--yes")).toMatchObject({ code: 0 });
    expect(statSync(binary.path).mode & 0o777).toBe(0o750);
    const second = await binary.serve();
    expect(await binary.json("version")).toMatchObject({ version: next });
    expect(await second.end()).toBe(0);
    rmSync(`${binary.path}.previous`);
  },
  timeoutMs,
);

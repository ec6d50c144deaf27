import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { copyWithFiller } from "../cli/large-database.ts";
import { type Binary, openShop, useBinaries } from "../support/binary.ts";
import type { Serving } from "../support/serving.ts";
import { until } from "../support/until.ts";
import { defaultDataDir, inspectDatabase, startLoad } from "./load.ts";
import { ownMounts } from "./mounts.ts";

const { installBinary, makeDir } = useBinaries();

/** Number of rounds. Each round makes a backup and restores it; set more for a thorough run. */
const rounds = Number(process.env.BODEGA_TEST_BACKUPS ?? 1);
const writers = 16;

let binary: Binary;
let server: Serving;
let shop: Awaited<ReturnType<typeof openShop>>;

beforeAll(async () => {
  binary = installBinary();
  shop = await openShop(binary);
  server = await binary.serve("--workers", "2");
});

/** Lists hidden files in directories, which an unfinished backup could have left. */
function listHidden(...dirs: string[]): string[] {
  return dirs.filter(existsSync).flatMap((dir) => readdirSync(dir).filter((name) => name.startsWith(".")));
}

test("a backup made while 16 writers run restores to an intact database with every acknowledged write", async () => {
  const dir = makeDir();
  const answered: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const load = startLoad({ url: server.url, namespace: shop.namespace, auth: shop.auth, clients: writers });
    await until("some products", () => load.created.length > writers);
    answered.push(...load.created);
    const { backup } = await binary.json<{ backup: string }>("db", "backup", "--to", dir, "--keep", "2");
    await load.stop();
    expect(load.refused).toEqual([]);
    const target = makeDir();
    const restored = await binary.json<{ restored: boolean }>("db", "restore", backup, "--data-dir", target, "--yes");
    expect(restored.restored).toBe(true);
    const { integrity, products } = await inspectDatabase(target);
    expect(integrity).toBe("ok");
    expect(answered.filter((id) => !products.has(id))).toEqual([]);
    expect((await binary.run("audit", "verify", "--data-dir", target)).code).toBe(0);
    expect((await binary.run("doctor", "--data-dir", target, "-q")).stdout).not.toContain("prod_");
  }
  expect(readdirSync(dir).length).toBe(Math.min(rounds, 2));
  expect(listHidden(dir, join(defaultDataDir(binary.dir), "backups"))).toEqual([]);
}, 120_000);

test("a restore is refused while a server runs, and the server keeps running", async () => {
  const { backup } = await binary.json<{ backup: string }>("db", "backup");
  const { code, stderr } = await binary.run("db", "restore", backup, "--yes");
  expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining("A server is running") });
  expect((await binary.run("db", "restore", backup, "--dry-run")).code).toBe(0);
  expect((await fetch(`${server.url}/health/ready`)).status).toBe(200);
});

test("a server makes scheduled backups, keeps the configured number, and logs them", async () => {
  const to = makeDir();
  const binary = installBinary();
  await openShop(binary);
  let server = await binary.serve("--backup-every", "1s", "--backup-to", to, "--backup-keep", "2");
  const first = await until("the first backup", () => /backup made: (\S+)/.exec(server.log())?.[1]);
  await until("its removal", () => !existsSync(first) && readdirSync(to).length >= 2);
  expect(await server.end()).toBe(0);
  expect(readdirSync(to).length).toBeLessThanOrEqual(3);
  expect(listHidden(to, join(defaultDataDir(binary.dir), "backups"))).toEqual([]);
  const { last_success, last_failure } = JSON.parse(
    readFileSync(join(defaultDataDir(binary.dir), "backups", "last.json"), "utf8"),
  );
  expect(last_success.place).toStartWith(to);
  expect(last_failure).toBeNull();
  const [entry] = await binary.json<{ actor_kind: string }[]>("audit", "list", "--event", "database.backed_up");
  expect(entry?.actor_kind).toBe("server");

  // A restarted server makes no backup before the interval is over. A failed backup is logged, and the server
  // continues.
  const count = readdirSync(to).length;
  server = await binary.serve("--backup-every", "1h", "--backup-to", to);
  const failing = installBinary();
  await openShop(failing);
  const other = await failing.serve("--backup-every", "1h", "--backup-to", join(binary.path, "no-folder"));
  await until("the warning", () => other.log().includes("the backup failed, next attempt in 5 minutes"));
  expect((await fetch(`${other.url}/health/ready`)).status).toBe(200);
  expect(await other.end()).toBe(0);
  expect(await server.end()).toBe(0);
  expect(readdirSync(to).length).toBe(count);
}, 30_000);

if (!ownMounts)
  console.warn("Backups on a full disk are not tested: this account may not mount a file system of its own.");

if (ownMounts)
  describe("a full disk", () => {
    function runMounted(script: string) {
      const child = Bun.spawnSync([...(ownMounts ?? []), "sh", "-c", script], { cwd: binary.dir, env: binary.env });
      return { code: child.exitCode, stdout: child.stdout.toString(), stderr: child.stderr.toString() };
    }

    test("a backup to a full disk fails with 5001 and leaves no files", () => {
      const script =
        "mkdir -p small && mount -t tmpfs -o size=16k none small && " +
        './bodega db backup --to small --json; code=$?; ls -A small; exit "$code"';
      const { code, stdout, stderr } = runMounted(script);
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
      expect(JSON.parse(stderr).error).toMatchObject({
        code: 5001,
        message: expect.stringContaining("full"),
        remedy: expect.any(String),
      });
    });

    test("backup and doctor report a read-only disk, with a remedy", () => {
      const script =
        "mkdir -p fixed && mount -t tmpfs none fixed && ./bodega tenant create demo --data-dir fixed -q && " +
        "mount -o remount,ro fixed && ./bodega doctor --data-dir fixed --json; ./bodega db backup --data-dir fixed --json";
      const { code, stdout, stderr } = runMounted(script);
      expect(code).toBe(4);
      expect(JSON.parse(stderr.trim().split("\n").at(-1) as string).error).toMatchObject({
        code: 5001,
        message: expect.stringMatching(/^A backup needs to write to .*\/fixed: the disk is mounted read-only\.$/),
        remedy: "Mount the disk read-write.",
      });
      const { findings } = JSON.parse(stdout.slice(stdout.indexOf("{"))) as {
        findings: { check: string; remedy: string }[];
      };
      expect(findings.find(({ check }) => check === "directory")?.remedy).toBe("Mount its disk read-write.");
    });

    test("a restore to a full disk fails, and the old database stays in use", async () => {
      const own = installBinary();
      await openShop(own);
      const large = await copyWithFiller(defaultDataDir(own.dir), 4);
      const script =
        `./bodega db backup --data-dir ${large} --to full.tar.gz -q >/dev/null && mkdir -p shop && mount -t tmpfs -o size=3m none shop && ` +
        "./bodega tenant create other --data-dir shop -q && " +
        "./bodega db restore full.tar.gz --data-dir shop --yes; " +
        'code=$?; ls -A shop | grep -c "^[.]restore-"; ./bodega tenant list --data-dir shop -q; exit "$code"';
      const { code, stdout, stderr } = runMounted(script);
      expect({ code, stdout }).toEqual({ code: 4, stdout: "other\n0\nother\n" });
      expect(stderr).toContain("the disk is full");
    });
  });

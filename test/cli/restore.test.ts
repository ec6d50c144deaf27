import { beforeAll, describe, expect, test } from "bun:test";
import {
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { describeUsers } from "../../src/server/db/local/open-file-lock.ts";
import { until } from "../support/until.ts";
import { readContents } from "./database-contents.ts";
import { command, makeDir, nextVersion, openCli, runAtTerminal, stripEscapes } from "./run-bodega.ts";

interface Restored {
  restored: boolean;
  backup: Record<string, unknown>;
  present: Record<string, unknown> | null;
  kept: string | null;
  key: string;
  missing_migrations: string[];
  warnings: string[];
}

const key = "k".repeat(43);
let backup: string;
let original: Record<string, string[]>;

beforeAll(async () => {
  const { dataDir, json } = openCli();
  await json("tenant", "create", "demo");
  writeFileSync(join(dataDir, "secret.key"), `${key}\n`, { mode: 0o600 });
  await json("user", "create", "-n", "demo", "--email", "ada@example.com", "--random-password");
  const db = await openStoreDatabase({ dataDir });
  const { createVault } = await import("../../src/server/security/vault.ts");
  const { claimDatabase } = await import("../../src/server/security/secret-key.ts");
  await claimDatabase(
    db,
    createVault(() => key),
  );
  await db.close();
  original = readContents(dataDir);
  const dir = makeDir();
  backup = (await json<{ backup: string }>("db", "backup", "--to", dir)).backup;
});

/** Creates a data directory with another shop. */
async function openOther() {
  const cli = openCli();
  await cli.json("tenant", "create", "other");
  return cli;
}

/** Reads the rows of a database, except those about backups and restores. */
async function readRows(dataDir: string): Promise<Record<string, string[]>> {
  const { audit_log = [], sqlite_sequence: _numbers, ...rest } = readContents(dataDir);
  return { ...rest, audit_log: audit_log.filter((row) => !/database\.(backed_up|restored)/.test(row)) };
}

/** Lists the files below a directory, except locks and files of SQLite and git. */
function listFiles(dir: string): string[] {
  const names = readdirSync(dir, { recursive: true, encoding: "utf8" });
  return names.filter((name) => !/-(shm|wal|users|turns|readers)$|\.lock$|^\.gitignore$/.test(name)).toSorted();
}

test("a backup restores every row into an empty directory, and the audit log continues", async () => {
  const { dataDir, json, run } = openCli();
  const done = await json<Restored>("db", "restore", backup, "--yes");
  expect({ ...done, backup: {}, warnings: [] }).toEqual({
    restored: true,
    backup: {},
    present: null,
    kept: null,
    key: "missing",
    missing_migrations: [],
    warnings: [],
  });
  expect(done.backup).toEqual({
    from: backup,
    created_at: expect.any(String),
    version: expect.any(String),
    schema: expect.any(String),
    stores: 1,
    tenants: [{ id: expect.any(String), namespace: "demo", title: "demo" }],
    users: 1,
    products: 0,
    orders: 0,
    last_act_at: expect.any(String),
  });
  const { sqlite_sequence: _numbers, ...expected } = original;
  expect(await readRows(dataDir)).toEqual(expected);
  expect(statSync(join(dataDir, "bodega.db")).mode & 0o777).toBe(0o600);
  expect(listFiles(dataDir)).toEqual(["bodega.db"]);
  const [last] = await json<{ event: string }[]>("audit", "list", "--limit", "1");
  expect(last?.event).toBe("database.restored");
  expect((await run(["audit", "verify"])).code).toBe(0);
  // --yes is enough if the backup has all stores of the present database.
  expect((await json<Restored>("db", "restore", backup, "--yes")).restored).toBe(true);
});

test("a restore keeps the previous database with its WAL, which can be restored again", async () => {
  const { dataDir, json } = await openOther();
  const before = await readRows(dataDir);
  const { kept, present } = await json<Restored>("db", "restore", backup, "--confirm", "other");
  expect(present).toMatchObject({ stores: 1, tenants: [{ namespace: "other", title: "other" }] });
  expect(await json<unknown>("tenant", "list")).toMatchObject([{ namespace: "demo" }]);
  expect(listFiles(dataDir)).toEqual(["backups", join("backups", basename(kept as string)), "bodega.db"]);
  await json("db", "restore", kept as string, "--confirm", "demo");
  expect(await readRows(dataDir)).toEqual(before);
});

test("a plain database file is restored with the rows that only its WAL has", async () => {
  const { dataDir } = await openOther();
  const copy = makeDir();
  const db = await openStoreDatabase({ dataDir });
  await db.execute("update tenants set title = 'Only in the WAL'");
  for (const suffix of ["", "-wal"]) copyFileSync(join(dataDir, `bodega.db${suffix}`), join(copy, `shop.db${suffix}`));
  await db.close();
  const next = openCli();
  await next.json("db", "restore", join(copy, "shop.db"), "--yes");
  expect(await next.json<unknown>("tenant", "list")).toMatchObject([{ namespace: "other", title: "Only in the WAL" }]);
  // The restore does not change its source.
  expect(readdirSync(copy).toSorted()).toEqual(["shop.db", "shop.db-wal"]);
});

test("a dry run compares backup and database, and changes nothing, not even an empty directory", async () => {
  const { dataDir, here: run } = await openOther();
  const before = readContents(dataDir);
  const { code, stdout, stderr } = await run(["db", "restore", backup, "--dry-run"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/BACKUP +PRESENT\n/);
  expect(stdout).toMatch(/stores +1 +1\n/);
  expect(stdout).toMatch(/users +1 +0\n/);
  expect(stderr).toContain("Nothing was changed.");
  const told = await run(["db", "restore", backup, "--dry-run", "--json"]);
  expect(JSON.parse(told.stdout)).toMatchObject({ restored: false, kept: null });
  expect(readContents(dataDir)).toEqual(before);
  expect(listFiles(dataDir)).toEqual(["bodega.db"]);
  expect(existsSync(join(dataDir, "restore.lock"))).toBe(false);
  const empty = openCli();
  expect((await empty.here(["db", "restore", backup, "--dry-run"])).code).toBe(0);
  expect(existsSync(empty.dataDir)).toBe(false);
});

test("--yes does not delete a store that the backup lacks", async () => {
  const { dataDir, json, run } = await openOther();
  await json("product", "create", "-n", "other", "--title", "Mug", "--price", "12");
  await json("product", "create", "-n", "other", "--title", "Bowl", "--price", "15");
  await json("product", "delete", "-n", "other", "bowl", "--yes");
  const before = readContents(dataDir);
  const refused = await run(["db", "restore", backup, "--yes"]);
  expect({ code: refused.code, error: refused.stderr.replaceAll(/\s+/g, " ") }).toEqual({
    code: 2,
    error: expect.stringMatching(/store names demo \(demo\) other \(other\) .* products 0 1 .*--confirm other/),
  });
  expect(readContents(dataDir)).toEqual(before);
});

test("at a terminal, a restore asks for the namespace of a store that the backup lacks", async () => {
  const { dataDir, environment } = await openOther();
  const before = readContents(dataDir);
  const asked = (answer: string) =>
    runAtTerminal(["db", "restore", backup, "--yes"], [["Type other to continue", answer]], { env: environment() });
  expect((await asked("demo\r")).code).toBe(2);
  expect(readContents(dataDir)).toEqual(before);
  const { code, screen } = await asked("other\r");
  expect([code, stripEscapes(screen)]).toEqual([0, expect.stringMatching(/has the state of \d{4}-\d\d-\d\dT\S+Z\./)]);
});

test("a restore names the command that it waits for, and continues when the command ends", async () => {
  const { dataDir, environment, json } = await openOther();
  const [products, pipe] = [join(makeDir(), "products.csv"), join(makeDir(), "pipe")];
  // The export is larger than the pipe's buffer, so the command waits for a reader.
  const rows = Array.from({ length: 60 }, (_, number) => `Mug ${number},12,${"clay ".repeat(400)}`);
  writeFileSync(products, ["title,price,description", ...rows].join("\n"));
  await json("product", "import", "-n", "other", products);
  expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
  const reader = openSync(pipe, "r+");
  const start = (...args: string[]) => Bun.spawn([...command, ...args], { env: environment(), stderr: "pipe" });
  const exporting = start("product", "export", "-n", "other", "--output", pipe);
  await until(
    "an export that uses the database",
    () => describeUsers(join(dataDir, "bodega.db")) !== "another command",
  );
  const restoring = start("db", "restore", backup, "--confirm", "other");
  let told = "";
  const note = (bytes: Uint8Array) => {
    told += new TextDecoder().decode(bytes);
  };
  const reading = restoring.stderr.pipeTo(new WritableStream({ write: note }));
  await until("what it waits for", () => told.includes(`Waiting for product export, pid ${exporting.pid}.`));
  exporting.kill();
  await reading;
  expect(await restoring.exited).toBe(0);
  closeSync(reader);
});

test("a restore prints the present content in full before the question, even on a narrow terminal", async () => {
  const { environment } = await openOther();
  const options = { env: environment(), columns: 20 };
  const { screen } = await runAtTerminal(["db", "restore", backup], [["Type other", "\u0003"]], options);
  const [before = ""] = stripEscapes(screen).split("Type other");
  expect(before).toContain("BACKUP");
  expect(before).toContain("PRESENT");
  expect(before.match(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g)).toHaveLength(3);
});

// Only root can give files to another account.
if (process.getuid?.() === 0) {
  test("files, locks and directories that a restore by root creates belong to the data directory's owner", async () => {
    const { dataDir, json } = openCli();
    mkdirSync(dataDir);
    chownSync(dataDir, 1234, 1234);
    await json("db", "restore", backup, "--yes");
    await json("db", "backup");
    for (const name of readdirSync(dataDir)) {
      expect({ name, owner: statSync(join(dataDir, name)).uid }).toEqual({ name, owner: 1234 });
    }
  });
}

test("--at accepts only a time, and only for a replica", async () => {
  const run = (at: string) => openCli().here(["db", "restore", backup, "--dry-run", "--at", at]);
  expect(await run("noon")).toMatchObject({ code: 2, stderr: expect.stringContaining("error: --at must be") });
  const refused = { code: 2, stderr: expect.stringContaining("error: --at works only with a replica.") };
  expect(await run("2026-11-21T10:45:12Z")).toMatchObject(refused);
});

test("a restore compares an existing secret key with the backup", async () => {
  const { dataDir, here } = openCli();
  mkdirSync(dataDir);
  const compare = async (text: string) => {
    writeFileSync(join(dataDir, "secret.key"), `${text}\n`);
    return JSON.parse((await here(["db", "restore", backup, "--dry-run", "--json"])).stdout);
  };
  expect((await compare("o".repeat(43))).key).toBe("other");
  expect(await compare(key)).toMatchObject({ key: "same", warnings: [] });
});

describe("a restore refuses without changing anything", () => {
  /** Returns the archive with changed contents. The sizes must not change. */
  function alter(change: (archive: Buffer) => Buffer): Buffer {
    return gzipSync(change(gunzipSync(readFileSync(backup))));
  }
  const swap = (from: string, to: string) => (archive: Buffer) => {
    const at = archive.indexOf(from);
    if (at === -1 || from.length !== to.length) throw new Error(`${from} cannot be swapped`);
    archive.write(to, at);
    return archive;
  };
  const flipPage = (archive: Buffer) => {
    const at = archive.indexOf("SQLite format 3") + 5 * 4096;
    return archive.fill(0x33, at, at + 64);
  };
  const cases: [name: string, bytes: () => Uint8Array, code: number, words: string][] = [
    ["a backup that is cut short", () => readFileSync(backup).subarray(0, -2000), 1, "truncated"],
    ["a backup without its last bytes", () => readFileSync(backup).subarray(0, -3), 1, "truncated"],
    [
      "a backup that ends after its manifest",
      () => gzipSync(gunzipSync(readFileSync(backup)).subarray(0, 3072)),
      1,
      "damaged",
    ],
    ["a backup with an altered database", () => alter(flipPage), 1, "checksum"],
    ["a backup of a newer format", () => alter(swap('"format": 1', '"format": 2')), 1, "newer version"],
    [
      "a backup with another file in place of the database",
      () => alter(swap("bodega.db", "bodega.sh")),
      1,
      "truncated or altered",
    ],
    ["a backup with a path outside", () => alter(swap("bodega.db\0\0\0", "../../db\0\0\0\0")), 1, "damaged"],
    ["an archive of another program", () => tarOf("notes.txt"), 1, "manifest"],
    ["a text", () => Buffer.from("hello"), 1, "not a Bodega backup"],
    ["an empty file", () => Buffer.alloc(0), 1, "not a Bodega backup"],
    [
      "a backup whose version has control characters",
      () => repack((manifest) => Object.assign(manifest, { version: "1\u001b[2J" })),
      1,
      "manifest",
    ],
    [
      "a backup whose time is followed by a remark",
      () => repack((manifest) => Object.assign(manifest, { created_at: "2026-01-01 (\u0007)" })),
      1,
      "manifest",
    ],
  ];

  // Shared, because no case changes it.
  let target: ReturnType<typeof openOther> | undefined;

  test.each(cases)("%s", async (_name, bytes, code, words) => {
    target ??= openOther();
    const { here } = await target;
    const path = join(makeDir(), "given.tar.gz");
    writeFileSync(path, bytes());
    // A dry run verifies the backup in the same way, and can run in this process.
    const { code: got, stderr } = await here(["db", "restore", path, "--dry-run"]);
    expect({ got, stderr }).toEqual({ got: code, stderr: expect.stringContaining(words) });
  });

  test("a restore refuses databases that are damaged, have a newer or altered schema, or belong to another program", async () => {
    const { dataDir, failure, here } = await openOther();
    const before = readContents(dataDir);
    const changed = async (statement: string) => {
      const dir = makeDir();
      copyFileSync(join(dataDir, "bodega.db"), join(dir, "bodega.db"));
      const db = await openStoreDatabase({ dataDir: dir });
      await db.execute(statement);
      await db.close();
      return join(dir, "bodega.db");
    };
    const broken = join(makeDir(), "broken.db");
    writeFileSync(broken, readFileSync(join(dataDir, "bodega.db")).fill(0x44, 3 * 4096, 60 * 4096));
    for (const [path, code, words] of [
      [await changed("insert into __bodega_migrations values ('9999_later', 'x', '2030')"), 4, "newer version"],
      [await changed("update __bodega_migrations set hash = 'x' where name like '0000%'"), 4, "differs from the"],
      [await changed("drop table __bodega_migrations"), 1, "another program"],
      [broken, 1, "damaged"],
      [join(dataDir, "nowhere.tar.gz"), 3, "not found"],
      [dataDir, 2, "is a directory"],
    ] as const) {
      const { code: got, stderr } = await here(["db", "restore", path, "--dry-run"]);
      expect({ path, got, stderr }).toEqual({ path, got: code, stderr: expect.stringContaining(words) });
    }
    expect((await failure("db", "restore", broken, "--yes")).error.message).toContain("damaged");
    expect(readContents(dataDir)).toEqual(before);
    expect(listFiles(dataDir)).toEqual(["bodega.db"]);
  });
});

test("a restore reports a backup with an earlier schema, and the next migration updates it", async () => {
  const source = openCli();
  await source.json("tenant", "create", "demo");
  const { backup: earlier } = await source.json<{ backup: string }>("db", "backup");
  const { json, run } = openCli(undefined, nextVersion);
  const done = await json<Restored>("db", "restore", earlier, "--yes");
  expect(done.missing_migrations).toEqual(["0001_next"]);
  expect(done.warnings).toEqual([expect.stringContaining("bodega db migrate")]);
  expect((await run(["db", "migrate"])).code).toBe(0);
  expect(await json<unknown>("tenant", "list")).toMatchObject([{ namespace: "demo" }]);
});

/** Returns the backup with a changed manifest. */
function repack(change: (manifest: object) => void): Buffer {
  const dir = makeDir();
  Bun.spawnSync(["tar", "xzf", backup, "-C", dir]);
  const path = join(dir, "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  change(manifest);
  writeFileSync(path, JSON.stringify(manifest));
  return Bun.spawnSync(["tar", "czf", "-", "-C", dir, "manifest.json", "bodega.db"]).stdout;
}

/** Returns a compressed archive with one small file of this name. */
function tarOf(name: string): Buffer {
  const dir = makeDir();
  writeFileSync(join(dir, name), "text");
  const { stdout } = Bun.spawnSync(["tar", "czf", "-", "-C", dir, name]);
  return stdout;
}

import { afterAll, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileDatabase } from "../../src/server/db/local/file-database.ts";
import { copyDatabase } from "../../src/server/db/migrate.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import { createTable, insertRow } from "./fixtures.ts";
import { spawnChild } from "./spawn-child.ts";

const base = mkdtempSync(join(tmpdir(), "bodega-replace-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

let count = 0;
/** Creates a data directory whose database has a row only in its WAL, and another database that will replace it. */
async function prepare() {
  const dataDir = join(base, String(++count));
  mkdirSync(join(dataDir, ".restore-x"), { recursive: true });
  const made = join(dataDir, "made");
  for (const [dir, name] of [
    [made, "new"],
    [dataDir, "old"],
  ] as const) {
    const db = (await openDatabase({ dataDir: dir })) as FileDatabase;
    await db.execute(createTable);
    await db.checkpoint();
    await db.execute(insertRow(name));
    if (dir === made) await db.close();
  }
  const newPath = join(dataDir, ".restore-x", "bodega.db");
  await copyDatabase(join(made, "bodega.db"), newPath);
  rmSync(made, { recursive: true });
  return { dataDir, newPath };
}

async function readNames(dataDir: string): Promise<string[]> {
  const db = await openDatabase({ dataDir });
  try {
    expect((await db.execute("pragma integrity_check")).rows[0]?.[0]).toBe("ok");
    return (await db.execute("select name from things")).rows.map((row) => String(row[0]));
  } finally {
    await db.close();
  }
}

test("a process killed between any two steps leaves the complete old or new database in place", async () => {
  const found: string[] = [];
  for (let steps = 0; ; steps++) {
    const { dataDir, newPath } = await prepare();
    // The child process has none of this process's connections, and starts with the present files.
    const copy = join(base, `${count}-copy`);
    mkdirSync(join(copy, ".restore-x"), { recursive: true });
    for (const name of ["bodega.db", "bodega.db-wal"]) copyFileSync(join(dataDir, name), join(copy, name));
    copyFileSync(newPath, join(copy, ".restore-x", "bodega.db"));
    expect(statSync(join(copy, "bodega.db-wal")).size).toBeGreaterThan(0);
    const child = spawnChild("replace", copy, String(steps));
    const said = await child.restLines();
    await child.exited;
    const names = await readNames(copy);
    expect({ steps, names, one: names.length === 1 }).toEqual({ steps, names, one: true });
    found.push(names[0] as string);
    if (said.at(-1) === "done") {
      const [kept = ""] = readdirSync(join(copy, "backups"));
      copyFileSync(join(copy, "backups", kept), join(mkdir(`${count}-kept`), "bodega.db"));
      expect(await readNames(join(base, `${count}-kept`))).toEqual(["old"]);
      break;
    }
  }
  // Depending on the step, the old or the new database is found. Both must occur.
  expect(found.join()).toMatch(/^(old,){4,}(new,)*new$/);
});

test("a damaged database file is replaced, and kept unchanged with its WAL", async () => {
  const { dataDir, newPath } = await prepare();
  const copy = mkdir(`${count}-copy`);
  mkdirSync(join(copy, ".restore-x"));
  copyFileSync(join(dataDir, "bodega.db-wal"), join(copy, "bodega.db-wal"));
  copyFileSync(newPath, join(copy, ".restore-x", "bodega.db"));
  writeFileSync(join(copy, "bodega.db"), "no database at all, but long enough to be looked at ".repeat(100));
  const child = spawnChild("replace", copy, "99");
  expect((await child.restLines()).at(-1)).toBe("done");
  expect(await readNames(copy)).toEqual(["new"]);
  const kept = readdirSync(join(copy, "backups")).toSorted();
  expect(kept).toEqual([expect.stringMatching(/\.db$/), expect.stringMatching(/\.db-wal$/)]);
  expect(existsSync(join(copy, ".restore-x", "bodega.db"))).toBe(false);
});

test("a database can neither be opened while it is replaced, nor be replaced while it is open", async () => {
  const { lockExclusive } = await import("../../src/server/db/local/open-file-lock.ts");
  const { failureOf } = await import("../support/failure.ts");
  const dataDir = mkdir(`${++count}`);
  const path = join(dataDir, "bodega.db");
  const child = spawnChild("hold-open", dataDir);
  expect(await child.nextLine()).toBe("open");
  expect(await failureOf(lockExclusive(path, { timeoutMs: 50 }))).toMatchObject({
    code: 5001,
    message: expect.stringMatching(/in use \(.*, pid \d+\)/),
  });
  child.kill();
  await child.exited;
  const claim = await lockExclusive(path, { timeoutMs: 5000 });
  const late = spawnChild("hold-open", dataDir);
  const opened = late.nextLine();
  expect(await Promise.race([opened, Bun.sleep(100).then(() => "waits")])).toBe("waits");
  claim.close();
  expect(await opened).toBe("open");
  late.kill();
});

function mkdir(name: string): string {
  const dir = join(base, name);
  mkdirSync(dir, { recursive: true });
  return dir;
}

import { beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fetchBackup } from "../../src/server/backup/restore/fetch-backup.ts";
import { applyRestore, planRestore } from "../../src/server/backup/restore/restore.ts";
import { makeRestoreTempDir } from "../../src/server/backup/restore/temp-dir.ts";
import { readConfig } from "../../src/server/config/config.ts";
import { lockShared } from "../../src/server/db/local/open-file-lock.ts";
import { failureOf } from "../support/failure.ts";
import { until } from "../support/until.ts";
import { readContents } from "./database-contents.ts";
import { command, makeDir, openCli } from "./run-bodega.ts";

const place = makeDir();
const path = join(place, "one.tar.gz");

beforeAll(async () => {
  const { json } = openCli();
  await json("tenant", "create", "demo");
  await json("db", "backup", "--to", path);
});

async function openOther() {
  const cli = openCli();
  await cli.json("tenant", "create", "other");
  return cli;
}

/** Lists the directories into which restores unpack. */
function listFolders(dataDir: string): string[] {
  return readdirSync(dataDir).filter((name) => name.startsWith(".restore-"));
}

/** Starts a restore, which waits because a command uses the database. */
async function beginRestore({ dataDir, environment }: ReturnType<typeof openCli>) {
  const child = Bun.spawn([...command, "db", "restore", path, "--confirm", "other"], {
    env: environment(),
    stdio: ["ignore", "ignore", "ignore"],
  });
  await until("the folder it unpacks into", () => listFolders(dataDir).length > 0);
  return child;
}

test("a restore stopped at any time before the rename changes nothing", async () => {
  const { dataDir } = await openOther();
  const before = readContents(dataDir);
  const config = readConfig({}, { BODEGA_DATA_DIR: dataDir });
  const stop = new AbortController();
  const folder = await makeRestoreTempDir(dataDir, true);
  const source = { place, name: "one.tar.gz" };
  const { signal } = stop;
  const options = { config, folder: folder.path, onStep() {}, signal };
  const plan = await planRestore(await fetchBackup(source, options), config);
  // Listeners of other tests would end this process.
  const others = process.listeners("SIGINT");
  process.removeAllListeners("SIGINT");
  process.once("SIGINT", () => stop.abort(new Error("stopped")));
  // The signal arrives in the next turn of the event loop.
  process.kill(process.pid, "SIGINT");
  const actor = { kind: "terminal", account: "tester" } as const;
  expect(await failureOf(applyRestore(plan, config, { actor, signal }))).toEqual(new Error("stopped"));
  for (const listener of others) process.on("SIGINT", listener);
  folder.remove();
  expect(readContents(dataDir)).toEqual(before);
  expect(readdirSync(join(dataDir, "backups"))).toEqual([]);
});

test("ctrl-C ends a restore with exit code 130, even while it waits for commands that use the database", async () => {
  const { dataDir, environment } = await openOther();
  const before = readContents(dataDir);
  const users = await lockShared(join(dataDir, "bodega.db"));
  const child = Bun.spawn([...command, "db", "restore", path, "--confirm", "other"], {
    env: environment(),
    stdio: ["ignore", "ignore", "pipe"],
  });
  await until("its folder", () => listFolders(dataDir).length > 0);
  child.kill("SIGINT");
  expect({ code: await child.exited, words: await child.stderr.text() }).toEqual({
    code: 130,
    words: expect.stringMatching(/Cancelled\.\n$/),
  });
  users.close();
  expect(readContents(dataDir)).toEqual(before);
  expect(listFolders(dataDir)).toEqual([]);
});

test("the next restore or backup removes the temporary directory of a killed restore, but not of a running restore", async () => {
  const cli = await openOther();
  const { dataDir, json } = cli;
  mkdirSync(join(dataDir, ".restore-abandoned"));
  const users = await lockShared(join(dataDir, "bodega.db"));
  const living = await beginRestore(cli).then(async (child) => {
    await until("the end of what was abandoned", () => !listFolders(dataDir).includes(".restore-abandoned"));
    return child;
  });
  await until("what it unpacks, while it has the lock", () => {
    const files = listFolders(dataDir).flatMap((name) => readdirSync(join(dataDir, name)));
    return files.some((name) => !name.startsWith("restore.lock"));
  });
  await json("db", "backup");
  expect(listFolders(dataDir)).toHaveLength(1);
  for (const next of [["backup"], ["restore", path, "--confirm", "other"]]) {
    const child = next[0] === "backup" ? living : await beginRestore(cli);
    child.kill("SIGKILL");
    await child.exited;
    expect(listFolders(dataDir)).toHaveLength(1);
    if (next[0] === "restore") users.close();
    await json("db", ...next);
    expect(listFolders(dataDir)).toEqual([]);
  }
});

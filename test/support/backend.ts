import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { copyDatabase, migrate } from "../../src/server/db/migrate.ts";
import type { Database } from "../../src/server/db/session.ts";
import { hasSqld, startSqld } from "./sqld.ts";

/** The two kinds of database. */
export const databaseKinds = ["file", "server"] as const;
export type DatabaseKind = (typeof databaseKinds)[number];

/** Whether this machine can run the tests of a kind: the server's executable is not published for every platform. */
export function canTest(kind: DatabaseKind): boolean {
  return kind === "file" || hasSqld;
}

/** A migrated database of a test file. */
export interface TestDatabase {
  kind: DatabaseKind;
  db: Database;
  /** The directory of its local files, if it has any. */
  dataDir: string;
  /** The address of the libSQL server, if there is one. */
  url: string | undefined;
  /** Opens the same data once more, as another process would. */
  openAgain: () => Promise<Database>;
  close: () => Promise<void>;
}

/** The file of a database without records, which one process migrates once. */
let migrated: Promise<Buffer> | undefined;

async function makeMigrated(): Promise<Buffer> {
  const dataDir = mkdtempSync(join(tmpdir(), "bodega-migrated-"));
  const db = await openStoreDatabase({ dataDir });
  try {
    await migrate(db);
    await copyDatabase(join(dataDir, "bodega.db"), join(dataDir, "copy.db"));
    return readFileSync(join(dataDir, "copy.db"));
  } finally {
    await db.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Opens a new database: a file or a separate libSQL server. */
export async function openTestDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  const dirs: string[] = [];
  const opened: Database[] = [];
  const server = kind === "file" ? undefined : await startSqld();
  const open = async (dataDir: string) => {
    const db = await openStoreDatabase({ dataDir, ...(kind === "server" && { url: server?.url as string }) });
    opened.push(db);
    return db;
  };
  const makeDir = () => {
    const dir = mkdtempSync(join(tmpdir(), "bodega-test-"));
    dirs.push(dir);
    return dir;
  };
  const dataDir = makeDir();
  if (kind === "file") {
    migrated ??= makeMigrated();
    writeFileSync(join(dataDir, "bodega.db"), await migrated, { mode: 0o600 });
  }
  const db = await open(dataDir);
  await migrate(db);
  return {
    kind,
    db,
    dataDir,
    url: server?.url,
    openAgain: () => open(kind === "file" ? dataDir : makeDir()),
    async close() {
      for (const one of opened.reverse()) await one.close();
      await server?.stop();
      for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
    },
  };
}

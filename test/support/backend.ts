import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { copyDatabase, migrate } from "../../src/server/db/migrate.ts";
import type { Database } from "../../src/server/db/session.ts";
import { hasSqld, startSqld } from "./sqld.ts";

/** The two kinds of database. */
export const databaseKinds = ["file", "server"] as const;
export type DatabaseKind = (typeof databaseKinds)[number];

/** Whether this machine can test a kind of database. The libSQL server exists only for some platforms. */
export function canTest(kind: DatabaseKind): boolean {
  return kind === "file" || hasSqld;
}

/** The migrated database of a test file. */
export interface TestDatabase {
  kind: DatabaseKind;
  db: Database;
  /** The directory of local files. */
  dataDir: string;
  /** The address of the libSQL server; undefined for a file. */
  url: string | undefined;
  /** Opens the same data again, like another process. */
  openAgain: () => Promise<Database>;
  close: () => Promise<void>;
}

/** Directories with migrated databases without records. A process migrates each kind once. */
const migrated: Partial<Record<DatabaseKind, Promise<string>>> = {};

const makeTempDir = () => mkdtempSync(join(tmpdir(), "bodega-test-"));

async function makeMigrated(kind: DatabaseKind): Promise<string> {
  const dir = makeTempDir();
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  const dataDir = makeTempDir();
  const server = kind === "server" ? await startSqld({ dir }) : undefined;
  const db = await openStoreDatabase({ dataDir, ...(server && { url: server.url }) });
  try {
    await migrate(db);
    if (kind === "file") await copyDatabase(join(dataDir, "bodega.db"), join(dir, "bodega.db"));
  } finally {
    await db.close();
    await server?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  return dir;
}

/** Opens a new database: a file, or a new libSQL server. */
export async function openTestDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  const dirs: string[] = [];
  const opened: Database[] = [];
  migrated[kind] ??= makeMigrated(kind);
  const template = await migrated[kind];
  const makeDir = () => {
    const dir = makeTempDir();
    dirs.push(dir);
    return dir;
  };
  const dataDir = makeDir();
  const copy = kind === "file" ? dataDir : makeDir();
  cpSync(template, copy, { recursive: true });
  const server = kind === "server" ? await startSqld({ dir: copy }) : undefined;
  const open = async (dataDir: string) => {
    const db = await openStoreDatabase({ dataDir, ...(kind === "server" && { url: server?.url as string }) });
    opened.push(db);
    return db;
  };
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

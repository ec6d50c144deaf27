import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../src/server/db/migrate.ts";
import { openDatabase } from "../../src/server/db/open.ts";
import type { Database } from "../../src/server/db/session.ts";
import { hasSqld, startSqld } from "./sqld.ts";

/** The three ways to keep the data. */
export const databaseKinds = ["file", "server", "replica"] as const;
export type DatabaseKind = (typeof databaseKinds)[number];

/** Whether this machine can run the tests of a kind: the server's executable is not published for every platform. */
export function canTest(kind: DatabaseKind): boolean {
  return kind === "file" || hasSqld;
}

/** A migrated database of a test file. */
export interface TestDatabase {
  kind: DatabaseKind;
  db: Database;
  /** Where its local files are, if it has any. */
  dataDir: string;
  /** Opens the same data once more, as another process would. */
  openAgain: () => Promise<Database>;
  close: () => Promise<void>;
}

let sharedServer: Promise<string> | undefined;

/**
 * Opens a database: a file of its own, or the one server of this run, where tests keep apart by their tenants.
 */
export async function openTestDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  const dirs: string[] = [];
  const opened: Database[] = [];
  const url = kind === "file" ? undefined : await serverUrl();
  const open = async (dataDir: string) => {
    const db = await openDatabase({
      dataDir,
      ...(kind === "server" && { url: url as string }),
      ...(kind === "replica" && { syncUrl: url as string }),
    });
    opened.push(db);
    return db;
  };
  const makeDir = () => {
    const dir = mkdtempSync(join(tmpdir(), "bodega-test-"));
    dirs.push(dir);
    return dir;
  };
  const dataDir = makeDir();
  const db = await open(dataDir);
  await migrate(db);
  return {
    kind,
    db,
    dataDir,
    // Two processes share a file, but each has a local copy of its own.
    openAgain: () => open(kind === "file" ? dataDir : makeDir()),
    async close() {
      for (const one of opened.reverse()) await one.close();
      for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Starts the run's one libSQL server at its first use; it ends with the process. */
function serverUrl(): Promise<string> {
  sharedServer ??= (async () => {
    const dir = mkdtempSync(join(tmpdir(), "bodega-sqld-"));
    const { url } = await startSqld({ dir });
    process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
    return url;
  })();
  return sharedServer;
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/server/db/open.ts";
import type { Database } from "../../src/server/db/session.ts";
import { hasSqld, startSqld } from "../support/sqld.ts";

/** An open database. `dispose` removes it and its server. */
export interface Opened {
  db: Database;
  dispose(): Promise<void>;
}

/** Creates the only table that writes to a libSQL server need. */
export const createWriteGroups = "CREATE TABLE write_groups (writer TEXT PRIMARY KEY, last_group INTEGER NOT NULL)";

/** The kinds of database that this machine can test, with the functions that open a new one. */
export const kinds = listKinds(true);

/** The same kinds, with databases that have no tables. */
export const bareKinds = listKinds(false);

function listKinds(isReady: boolean): [string, () => Promise<Opened>][] {
  return hasSqld
    ? [
        ["file", openFresh],
        ["server", () => openRemote(isReady)],
      ]
    : [["file", openFresh]];
}

/** Creates a directory in the system's temporary directory. */
export function makeDir(): string {
  return mkdtempSync(join(tmpdir(), "bodega-test-"));
}

async function openFresh(): Promise<Opened> {
  const dataDir = makeDir();
  const db = await openDatabase({ dataDir });
  return {
    db,
    async dispose() {
      await db.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function openRemote(isReady: boolean): Promise<Opened> {
  const dataDir = makeDir();
  const server = await startSqld();
  const db = await openDatabase({ dataDir, url: server.url });
  if (isReady) await db.migrate([createWriteGroups]);
  return {
    db,
    async dispose() {
      await db.close();
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

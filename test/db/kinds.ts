import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/server/db/open.ts";
import type { Database } from "../../src/server/db/session.ts";
import { hasSqld, startSqld } from "../support/sqld.ts";

/** A database; `dispose` removes it and its server. */
export interface Opened {
  db: Database;
  dispose(): Promise<void>;
}

/** The kinds of database that this machine can test. */
export const kinds: [string, () => Promise<Opened>][] = [["file", openFresh], ...(hasSqld ? remoteKinds() : [])];

function remoteKinds(): [string, () => Promise<Opened>][] {
  return [["server", () => openRemote((dataDir, url) => openDatabase({ dataDir, url }))]];
}

/** A new directory below the system's temporary one. */
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

async function openRemote(open: (dataDir: string, url: string) => Promise<Database>): Promise<Opened> {
  const dataDir = makeDir();
  const server = await startSqld();
  const db = await open(dataDir, server.url);
  return {
    db,
    async dispose() {
      await db.close();
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

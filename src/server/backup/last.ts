import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "../config/data-dir.ts";
import { attempt } from "../errors.ts";
import { backupsFolder, makeBackupsFolder } from "./location.ts";

/** Work that succeeds or fails, and the file in `backups` that keeps its latest results. */
const files = { backup: "last.json", rehearsal: "rehearsal.json", replica: "replica.json", left: "left.json" } as const;
type Kind = keyof typeof files;

/** The latest results of one kind in a data directory; times are RFC 3339. */
interface LastResults {
  last_success: { at: string; place: string; bytes: number } | null;
  /** Null after a later success. The place is that of a rehearsal. */
  last_failure: { at: string; message: string; place?: string | undefined } | null;
}

/** Reads the latest results of a kind; all null where there are none. */
export function readLast(dataDir: string, kind: Kind): LastResults {
  const kept = attempt(() => JSON.parse(readFileSync(lastPath(dataDir, kind), "utf8")));
  return { last_success: kept?.last_success ?? null, last_failure: kept?.last_failure ?? null };
}

/** Records the result of a backup or rehearsal. Never throws: the result is reported elsewhere too. */
export function noteResult(dataDir: string, kind: Kind, change: Partial<LastResults>): void {
  // The disk may be full, which the error itself says.
  attempt(() => {
    makeBackupsFolder(dataDir);
    writeWhole(dataDir, lastPath(dataDir, kind), `${JSON.stringify({ ...readLast(dataDir, kind), ...change })}\n`);
  });
}

function lastPath(dataDir: string, kind: Kind): string {
  return join(backupsFolder(dataDir), files[kind]);
}

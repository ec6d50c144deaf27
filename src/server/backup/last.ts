import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "../config/data-dir.ts";
import { attempt } from "../values/attempt.ts";
import { backupsFolder, makeBackupsFolder } from "./location.ts";

const files = { backup: "last.json", "restore-test": "restore-test.json" } as const;
type Kind = keyof typeof files;

interface LastResults {
  last_success: { at: string; place: string; bytes: number } | null;
  /** Null after a later success. The place is that of a restore test. */
  last_failure: { at: string; message: string; place?: string | undefined } | null;
}

export function readLast(dataDir: string, kind: Kind): LastResults {
  const kept = attempt(() => JSON.parse(readFileSync(lastPath(dataDir, kind), "utf8")));
  return { last_success: kept?.last_success ?? null, last_failure: kept?.last_failure ?? null };
}

/** Records a result. Never throws, because the result is reported elsewhere too. */
export function recordResult(dataDir: string, kind: Kind, change: Partial<LastResults>): void {
  // The disk may be full, which the recorded error says.
  attempt(() => {
    makeBackupsFolder(dataDir);
    writeWhole(dataDir, lastPath(dataDir, kind), `${JSON.stringify({ ...readLast(dataDir, kind), ...change })}\n`);
  });
}

function lastPath(dataDir: string, kind: Kind): string {
  return join(backupsFolder(dataDir), files[kind]);
}

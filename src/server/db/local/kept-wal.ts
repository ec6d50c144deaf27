import { closeSync, existsSync, openSync, readdirSync, readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf, unavailable } from "../../errors.ts";
import { copyWhole } from "./sync-file.ts";
import { frameBytes, isSameWal, readFrame, startOf, sumOf, walHeaderBytes } from "./wal-frames.ts";

/**
 * Makes one copy of a WAL that is damaged in the middle. SQLite would ignore and overwrite the commits behind the
 * damage. Nobody may have the database open.
 * @throws unavailable when it cannot be copied.
 */
export function preserveCorruptWal(path: string): void {
  const wal = `${path}-wal`;
  try {
    const damage = findDamage(wal);
    if (damage === undefined) return;
    const kept = `${wal}.damaged-${damage.salt}`;
    if (!existsSync(kept)) copyWhole(wal, kept);
  } catch (cause) {
    // Another process has just closed the database, which emptied the WAL, so there is nothing to preserve.
    if (errnoOf(cause) === "ENOENT") return;
    const remedy = "Free some disk space, and check that this account can write here.";
    const message = `${wal} cannot be checked for damage and copied (${errnoOf(cause)}).`;
    throw unavailable(message, { cause, isInternal: true, remedy });
  }
}

/** Describes each preserved WAL beside a database, and what to do with it. */
export function describeKeptWals(path: string): { kept: string; message: string; remedy: string }[] {
  const prefix = `${basename(path)}-wal.`;
  return readdirSync(dirname(path)).flatMap((name) => {
    const [, reason] = (name.startsWith(prefix) && /\.(damaged|orphaned)-\d+$/.exec(name)) || [];
    if (reason === undefined) return [];
    const kept = join(dirname(path), name);
    if (reason === "orphaned") {
      const message = `${kept} has the last writes to a database file that was removed or replaced.`;
      const remedy = `If that file is back and unchanged, stop the server and rename the WAL to ${basename(path)}-wal; else delete it.`;
      return [{ kept, message, remedy }];
    }
    const { frame = 0, framesBehind = 0, commitsBehind = 0 } = findDamage(kept) ?? {};
    const lost = `${framesBehind} valid frames with ${commitsBehind} commits lie behind the damage and were not applied`;
    const message = `The WAL was damaged at frame ${frame}: ${lost}. A copy is kept as ${kept}.`;
    const remedy = "Compare the records with the last backup, enter again what is missing, and delete the copy.";
    return [{ kept, message, remedy }];
  });
}

// Finds the first invalid frame (0 for the header) with commits behind it. Each frame is checked against the checksum
// of the previous one. Frames of an unfinished write may be invalid too, but no commit follows them.
function findDamage(wal: string) {
  const file = openSync(wal, "r");
  try {
    const header = new Uint8Array(walHeaderBytes);
    if (readSync(file, header, 0, walHeaderBytes, null) < walHeaderBytes) return undefined;
    let damagedAt = startOf(header) ? undefined : 0;
    let [number, valid, framesBehind, commitsBehind] = [0, 0, 0, 0];
    let salt: number | undefined;
    for (const { isValid, isCommit, salts } of readFrames(file, header)) {
      number += 1;
      salt = salts[0];
      if (damagedAt === undefined) {
        if (!isValid) damagedAt = number;
        continue;
      }
      if (!isValid) continue;
      valid += 1;
      if (isCommit) [framesBehind, commitsBehind] = [valid, commitsBehind + 1];
    }
    if (damagedAt === undefined || commitsBehind === 0) return undefined;
    return { frame: damagedAt, framesBehind, commitsBehind, salt };
  } finally {
    closeSync(file);
  }
}

/** Reads the frames after a header. If the header is invalid, the salts are those of the first frame. */
function* readFrames(file: number, header: Uint8Array) {
  let { salts, sums } = startOf(header) ?? { salts: undefined, sums: sumOf(header, 0, 24, [0, 0]) };
  const bytes = new Uint8Array(frameBytes);
  while (readSync(file, bytes, 0, frameBytes, null) === frameBytes) {
    const frame = readFrame(bytes, 0, sums);
    sums = frame.sums;
    salts ??= frame.salts;
    yield { isValid: frame.isSound && isSameWal(frame, { salts }), isCommit: frame.pageCount > 0, salts };
  }
}

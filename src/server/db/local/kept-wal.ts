import { closeSync, existsSync, openSync, readdirSync, readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf, unavailable } from "../../errors.ts";
import { copyWhole } from "./sync-file.ts";

/** Sizes and offsets of https://sqlite.org/fileformat2.html#walformat, for pages as this program creates them. */
const headerBytes = 32;
const magic = 0x377f0682;
const frameHeaderBytes = 24;
const frameBytes = frameHeaderBytes + 4096;

/**
 * Keeps a copy of a WAL that is damaged in the middle, once: SQLite ignores the commits behind the damage, and overwrites
 * them. Nobody may have the database open.
 * @throws unavailable when it cannot be copied.
 */
export function keepDamagedWal(path: string): void {
  const wal = `${path}-wal`;
  try {
    const damage = findDamage(wal);
    if (damage === undefined) return;
    const kept = `${wal}.damaged-${damage.salt}`;
    if (!existsSync(kept)) copyWhole(wal, kept);
  } catch (cause) {
    const remedy = "Free some disk space, and check that this account can write here.";
    const message = `${wal} cannot be checked for damage and copied (${errnoOf(cause)}).`;
    throw unavailable(message, { cause, isInternal: true, remedy });
  }
}

/** Describes each WAL that was kept beside a database, and what to do with it. */
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

/**
 * Finds the first invalid frame (0 for the header) with commits behind it. Each frame is checked against the stored
 * checksum of the one before it. The frames of an unfinished write, which may be invalid too, are followed by no commit.
 */
function findDamage(wal: string) {
  const file = openSync(wal, "r");
  try {
    const header = new DataView(new ArrayBuffer(headerBytes));
    if (readSync(file, header, 0, headerBytes, null) < headerBytes) return undefined;
    const view = new DataView(new ArrayBuffer(frameBytes));
    let previous = sumOf(header, [0, 24], [0, 0]);
    const isSound = previous[0] === header.getInt32(24) && previous[1] === header.getInt32(28);
    let frame = isSound && header.getUint32(0) === magic ? undefined : 0;
    let salt = frame === 0 ? undefined : header.getUint32(16);
    let [valid, framesBehind, commitsBehind] = [0, 0, 0];
    for (let number = 1; readSync(file, view, 0, frameBytes, null) === frameBytes; number++) {
      const sum = sumOf(view, [frameHeaderBytes, frameBytes], sumOf(view, [0, 8], previous));
      previous = [view.getInt32(16), view.getInt32(20)];
      salt ??= view.getUint32(8);
      const isValid = view.getUint32(8) === salt && sum[0] === previous[0] && sum[1] === previous[1];
      if (frame === undefined) frame = isValid ? undefined : number;
      else if (isValid) {
        valid += 1;
        // The size of the database, which only the last frame of a transaction has.
        if (view.getUint32(4) === 0) continue;
        framesBehind = valid;
        commitsBehind += 1;
      }
    }
    return frame === undefined || commitsBehind === 0 ? undefined : { frame, framesBehind, commitsBehind, salt };
  } finally {
    closeSync(file);
  }
}

type Pair = [number, number];

/** SQLite's checksum of the words from `start` to `end`, continued from another one; on these machines little-endian. */
function sumOf(view: DataView, [start, end]: Pair, [first, second]: Pair): Pair {
  for (let at = start; at < end; at += 8) {
    first = (first + view.getInt32(at, true) + second) | 0;
    second = (second + view.getInt32(at + 4, true) + first) | 0;
  }
  return [first, second];
}

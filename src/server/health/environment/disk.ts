import { existsSync, type StatsFs, statfsSync, statSync } from "node:fs";
import { databaseFile } from "../../config/data-dir.ts";
import { formatBytes, GiB, MiB } from "../../values/bytes.ts";
import { quoteWord } from "../../values/shell-quote.ts";
import type { Checkup, Finding } from "./finding.ts";

/** From here on a full disk is near, however large the disk. */
const leastBytes = 100 * MiB;
/** A tenth of a large disk is plenty. */
const plentyBytes = 50 * GiB;

/** Magic numbers of `statfs` (Linux). */
const overNetwork: Record<number, string> = {
  26985: "NFS",
  20859: "SMB",
  4266872130: "SMB",
  4283649346: "CIFS",
  1397113167: "AFS",
  12805120: "Ceph",
  16914839: "9P",
  1702057286: "FUSE",
};
const inMemory: Record<number, string> = { 16914836: "tmpfs", 2240043254: "ramfs" };
const overlay = 0x794c7630;

/** What kind of file system the database lies on, and how much room there is. */
export const disk: Checkup = {
  name: "disk",
  async find({ config: { dataDir } }) {
    if (!existsSync(dataDir)) return [];
    const path = databaseFile(dataDir);
    const bytes = sizeOf(path) + sizeOf(`${path}-wal`);
    const isContainer = existsSync("/.dockerenv") || existsSync("/run/.containerenv");
    return findDiskFaults(dataDir, statfsSync(dataDir), { bytes, isContainer, isLinux: process.platform === "linux" });
  },
};

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    // That it is not there, or cannot be looked at, is told by other checks.
    return 0;
  }
}

/**
 * What `statfs` says of a folder, judged.
 * @param facts `bytes` is the size of the database with its log.
 */
export function findDiskFaults(
  dir: string,
  stats: Pick<StatsFs, "type" | "bsize" | "blocks" | "bavail" | "files" | "ffree">,
  facts: { bytes: number; isContainer: boolean; isLinux: boolean },
): Finding[] {
  const { type, bsize, blocks, bavail, files, ffree } = stats;
  const kind = facts.isLinux ? judgeKind(dir, type, facts.isContainer) : [];
  const space = blocks > 0 ? judgeSpace(dir, bavail * bsize, blocks * bsize, facts.bytes) : [];
  // Some file systems make their inodes as needed, and count none.
  const inodes = files > 0 ? judgeInodes(dir, ffree, files) : [];
  return [...kind, ...space, ...inodes];
}

function judgeKind(dir: string, type: number, isContainer: boolean): Finding[] {
  const warning = (message: string, remedy: string): Finding[] => [
    { severity: "warning", subject: dir, message, remedy },
  ];
  const name = overNetwork[type];
  if (name !== undefined) {
    return warning(
      `${dir} lies on a file system that is usually reached over a network or another program (${name}). Locks and the ` +
        "shared memory of the database are not safe there.",
      "Stop the server, move the folder to a local disk, and name it with --data-dir.",
    );
  }
  if (inMemory[type] !== undefined) {
    return warning(
      `${dir} lies in memory (${inMemory[type]}): everything is gone after a restart of the machine.`,
      "Stop the server, move the folder to a disk, and name it with --data-dir.",
    );
  }
  if (type === overlay && isContainer) {
    return warning(
      `${dir} lies in the container's own layer: everything is gone when the container is made anew.`,
      "Mount a volume there: docker run -v bodega-data:/data …",
    );
  }
  return [];
}

function judgeSpace(dir: string, free: number, total: number, database: number): Finding[] {
  const wanted = GiB + 2 * database;
  const isTight = free < wanted || (free < total / 10 && free < plentyBytes);
  if (free >= leastBytes && !isTight) return [];
  const share = `${Math.floor((free / total) * 100)} %`;
  return [
    {
      severity: free < leastBytes ? "error" : "warning",
      subject: dir,
      message:
        `${formatBytes(free)} (${share}) are free on the disk of ${dir}. ` +
        (free < leastBytes
          ? "Once it is full, nothing can be written."
          : `A database of ${formatBytes(database)} wants ${formatBytes(wanted)}, with its log and a backup.`),
      remedy: `du -xh --max-depth=2 ${quoteWord(dir)} | sort -h | tail`,
    },
  ];
}

function judgeInodes(dir: string, free: number, total: number): Finding[] {
  if (free >= 1000 && free >= total / 100) return [];
  return [
    {
      severity: free < 20 ? "error" : "warning",
      subject: dir,
      message: `Only ${free} more files can be made on the disk of ${dir} (inodes), however much room there is.`,
      remedy: `du -x --inodes "$(findmnt -n -o TARGET --target ${quoteWord(dir)})" | sort -n | tail`,
    },
  ];
}

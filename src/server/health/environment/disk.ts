import { existsSync, type StatsFs, statfsSync, statSync } from "node:fs";
import { databaseFile } from "../../config/data-dir.ts";
import { largeWalBytes } from "../../db/local/checkpoint.ts";
import { formatBytes, GiB, MiB } from "../../values/bytes.ts";
import { quoteWord } from "../../values/shell-quote.ts";
import { type EnvironmentCheck, type Finding, finding } from "../finding.ts";

const minFreeBytes = 100 * MiB;
/** More free space than this is enough on any disk. */
const plentyBytes = 50 * GiB;

/** File systems that are not for databases, by their magic number of `statfs` on Linux. */
const networks: Record<number, string> = {
  ...{ 26985: "NFS", 20859: "SMB", 4266872130: "SMB", 4283649346: "CIFS", 1397113167: "AFS", 12805120: "Ceph" },
  ...{ 16914839: "9P", 1702057286: "FUSE" },
};
const memories: Record<number, string> = { 16914836: "tmpfs", 2240043254: "ramfs" };
const overlay = 0x794c7630;

export const disk = {
  id: "disk",
  about: "The database is on a suitable file system with enough free space, and its WAL is small.",
  async run({ config: { dataDir } }) {
    if (!existsSync(dataDir)) return [];
    const path = databaseFile(dataDir);
    const sizes = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
    const [, wal = 0] = sizes;
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const isContainer = existsSync("/.dockerenv") || existsSync("/run/.containerenv");
    const message = `The WAL of the database has ${formatBytes(wal)} and cannot be emptied, or a killed server left it.`;
    const remedy = `Look for "WAL" in the server's log: a faulty disk, or a program that reads ${path} for long. Then restart it.`;
    const facts = { bytes, isContainer, isLinux: process.platform === "linux" };
    return [
      ...(wal > largeWalBytes ? [finding("warning", `${path}-wal`, message, remedy)] : []),
      ...checkDisk(dataDir, statfsSync(dataDir), facts),
    ];
  },
} satisfies EnvironmentCheck;

/** Checks the result of `statfs` for a folder. `bytes` is the size of the database with its WAL. */
export function checkDisk(
  dir: string,
  { type, bsize, blocks, bavail }: Pick<StatsFs, "type" | "bsize" | "blocks" | "bavail">,
  facts: { bytes: number; isContainer: boolean; isLinux: boolean },
): Finding[] {
  const found: Finding[] = [];
  const name = networks[type] ?? memories[type];
  if (facts.isLinux && name !== undefined) {
    const reason = networks[type]
      ? "a network or user-space file system, on which the locks of the database are not reliable"
      : "a file system in memory: all data is lost when the machine restarts";
    const remedy = "Stop the server, move the data directory to a local disk, and name it with --data-dir.";
    found.push(finding("warning", dir, `${dir} is on ${name}, ${reason}.`, remedy));
  }
  if (facts.isLinux && facts.isContainer && type === overlay) {
    const message = `${dir} is in the container's own layer: all data is lost when the container is recreated.`;
    found.push(finding("warning", dir, message, "Mount a volume there: docker run -v bodega-data:/data …"));
  }
  // Some file systems count no blocks.
  if (blocks > 0) found.push(...checkSpace(dir, bavail * bsize, blocks * bsize, facts.bytes));
  return found;
}

function checkSpace(dir: string, free: number, total: number, database: number): Finding[] {
  const wanted = GiB + 2 * database;
  const isFull = free < minFreeBytes;
  const isTight = free < wanted || (free < total / 10 && free < plentyBytes);
  if (!isFull && !isTight) return [];
  const consequence = isFull
    ? "When it is full, the server cannot write."
    : `A database of ${formatBytes(database)} needs ${formatBytes(wanted)} for its WAL and a backup.`;
  const message = `${formatBytes(free)} (${Math.floor((free / total) * 100)} %) are free on the disk of ${dir}. ${consequence}`;
  const remedy = `du -xh --max-depth=2 ${quoteWord(dir)} | sort -h | tail`;
  return [finding(isFull ? "error" : "warning", dir, message, remedy)];
}

import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lchownSync,
  readdirSync,
  type Stats,
  type StatsFs,
  statfsSync,
  statSync,
} from "node:fs";
import { basename, join } from "node:path";
import { databaseFile } from "../../config/data-dir.ts";
import { largeWalBytes } from "../../db/local/checkpoint.ts";
import { findClosed } from "../../db/local/file-modes.ts";
import { errnoOf } from "../../errors.ts";
import { attempt } from "../../values/attempt.ts";
import { formatBytes, GiB, MiB } from "../../values/bytes.ts";
import { quoteWord } from "../../values/shell-quote.ts";
import { type EnvironmentCheck, type Finding, finding } from "../finding.ts";

const maxFiles = 1000;
/** Files with secrets, and files that others must not write; locks and the like are empty. */
const isPrivate = /^bodega[\w-]*\.db(?:-wal|-shm|-wal\.(?:orphaned|damaged)-\d+)?$|^secret\.key|^bodega\.env|\.sock$/;

export const directory = {
  id: "directory",
  about: "The data directory exists, is writable, and belongs to this account.",
  async run({ config: { dataDir, databaseUrl }, uid, command }) {
    const stats = readStats(dataDir);
    if (stats === "ENOENT") {
      const message = `The data directory ${dataDir} does not exist. Name the right one with --data-dir or create a store.`;
      return databaseUrl === undefined ? [finding("error", dataDir, message, command("init"))] : [];
    }
    if (typeof stats === "string") {
      const remedy = "Name the right directory with --data-dir or BODEGA_DATA_DIR.";
      return [finding("error", dataDir, `The data directory ${dataDir} cannot be opened (${stats}).`, remedy)];
    }
    const asOwner = `sudo -u ${quoteWord(`#${stats.uid}`)} bodega doctor --data-dir ${quoteWord(dataDir)}`;
    try {
      accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      const message = `This account cannot write to ${dataDir} (${errnoOf(error)}). The directory belongs to user ${stats.uid}.`;
      const owned = uid === stats.uid ? `chmod 700 ${quoteWord(dataDir)}` : asOwner;
      const isReadOnly = errnoOf(error) === "EROFS";
      return [finding("error", dataDir, message, isReadOnly ? "Mount its disk read-write." : owned)];
    }
    const message =
      `${dataDir} belongs to user ${stats.uid}, and you are user ${uid}. ` +
      "The server may not be able to open files that your commands create there.";
    return uid === undefined || uid === stats.uid ? [] : [finding("warning", dataDir, message, asOwner)];
  },
} satisfies EnvironmentCheck;

function readStats(dataDir: string): Stats | string {
  try {
    const stats = statSync(dataDir);
    return stats.isDirectory() ? stats : "ENOTDIR";
  } catch (error) {
    return errnoOf(error);
  }
}

type Entry = { path: string; stats: Stats; maxMode: number };

export const files = {
  id: "files",
  about: "No other account can access the files of a data directory, all have one owner, who can write the database.",
  async run({ config: { dataDir }, uid }) {
    const [top] = readEntry(dataDir, 0o700);
    if (!top?.stats.isDirectory()) return [];
    const backups = readEntry(join(dataDir, "backups"), 0o700).filter(({ stats }) => stats.isDirectory());
    const ofBackups = [...backups, ...backups.flatMap(({ path }) => listFiles(path))];
    const ofTop = listFiles(dataDir);
    const open = [top, ...ofTop.filter(({ path }) => isPrivate.test(path.slice(dataDir.length + 1))), ...ofBackups]
      .filter(({ stats, maxMode }) => (stats.mode & 0o777 & ~maxMode) !== 0)
      .map(describeOpen);
    const closed = findClosed(databaseFile(dataDir)).map((path) => {
      const found = finding("error", path, `Its owner cannot read and write ${path}.`, `chmod 600 ${quoteWord(path)}`);
      return { ...found, fix: async () => chmodSync(path, 0o600) };
    });
    const { uid: owner, gid } = top.stats;
    const foreign = [...ofTop, ...ofBackups].flatMap(({ path, stats }) => {
      if (stats.uid === owner) return [];
      const message = `${path} belongs to user ${stats.uid} and its directory to user ${owner}. The server may not be able to open it.`;
      const found = finding("warning", path, message, `chown ${owner}:${gid} ${quoteWord(path)}`);
      // Only root may change the owner.
      return uid === 0 ? [{ ...found, fix: async () => lchownSync(path, owner, gid) }] : [found];
    });
    return [...closed, ...open, ...foreign];
  },
} satisfies EnvironmentCheck;

function describeOpen({ path, stats, maxMode }: Entry): Finding {
  const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
  const message = `Other accounts of this machine can access ${path} (mode ${mode}).`;
  const remedy = `chmod ${maxMode.toString(8)} ${quoteWord(path)}`;
  const severity = basename(path).startsWith("secret.key") && stats.mode & 0o044 ? "error" : "warning";
  return { ...finding(severity, path, message, remedy), fix: async () => chmodSync(path, stats.mode & maxMode) };
}

function listFiles(dir: string): Entry[] {
  // `directory` reports one that cannot be read.
  const names = (attempt(() => readdirSync(dir)) ?? []).slice(0, maxFiles);
  return names.flatMap((name) => readEntry(join(dir, name), 0o600)).filter(({ stats }) => !stats.isDirectory());
}

function readEntry(path: string, maxMode: number): Entry[] {
  const stats = attempt(() => statSync(path));
  return stats ? [{ path, stats, maxMode }] : [];
}

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
  // A small disk may have less than that and be almost empty.
  const isFull = free < Math.min(minFreeBytes, total / 10);
  const isTight = free < wanted || (free < total / 10 && free < plentyBytes);
  if (!isFull && !isTight) return [];
  const consequence = isFull
    ? "When it is full, the server cannot write."
    : `A database of ${formatBytes(database)} needs ${formatBytes(wanted)} for its WAL and a backup.`;
  const message = `${formatBytes(free)} (${Math.floor((free / total) * 100)} %) are free on the disk of ${dir}. ${consequence}`;
  const remedy = `du -xh --max-depth=2 ${quoteWord(dir)} | sort -h | tail`;
  return [finding(isFull ? "error" : "warning", dir, message, remedy)];
}

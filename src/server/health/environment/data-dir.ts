import { accessSync, chmodSync, constants, existsSync, readdirSync, type StatsFs, statfsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { backupsFolder } from "../../backup/location.ts";
import { databaseFile } from "../../config/data-dir.ts";
import { largeWalBytes } from "../../db/local/checkpoint.ts";
import { findClosed } from "../../db/local/file-modes.ts";
import { errnoOf } from "../../errors.ts";
import { attempt } from "../../values/attempt.ts";
import { quoteWord } from "../../values/shell-quote.ts";
import { formatBytes, GiB, MiB } from "../../values/units.ts";
import { type CheckSubject, type Finding, finding } from "../finding.ts";

/** Files that other accounts must not read or write. Other files, such as locks, need no protection. */
const isPrivate =
  /^bodega[\w-]*\.db(?:-wal|-shm|-wal\.(?:orphaned|damaged)-\d+)?$|^secret\.key|^bodega\.env|^acme-|\.sock$/;

export async function* checkDirectory({ config: { dataDir }, uid }: CheckSubject): AsyncGenerator<Finding> {
  try {
    const owner = statSync(dataDir).uid;
    readdirSync(dataDir);
    accessSync(dataDir, constants.W_OK);
    if (uid === undefined || uid === owner) return;
    const message = `${dataDir} belongs to user ${owner}, and you are user ${uid}. Files that your commands create there may be closed to the server.`;
    const asOwner = `sudo -u ${quoteWord(`#${owner}`)} bodega doctor --data-dir ${quoteWord(dataDir)}`;
    yield finding("warning", dataDir, message, asOwner);
  } catch (error) {
    const code = errnoOf(error);
    // A missing directory is reported by the check of the database.
    if (code === "ENOENT") return;
    const other = "Give it to this account, or name the right directory with --data-dir.";
    const remedy = code === "EROFS" ? "Mount its disk read-write." : other;
    yield finding("error", dataDir, `This account cannot read and write the directory ${dataDir} (${code}).`, remedy);
  }
}

/** Checks that all files have one owner, who can write the database, and that no other account can access them. */
export async function* checkFiles({ config: { dataDir } }: CheckSubject): AsyncGenerator<Finding> {
  const files = [...listDirectory(dataDir, isPrivate), ...listDirectory(backupsFolder(dataDir), /./)];
  const top = files[0]?.stats;
  const closed = findClosed(databaseFile(dataDir));
  for (const { path, stats, maxMode } of files) {
    if (stats.uid !== top?.uid) {
      const message = `${path} belongs to user ${stats.uid} and its directory to user ${top?.uid}. The server may not be able to open it.`;
      yield finding("warning", path, message, `chown ${top?.uid}:${top?.gid} ${quoteWord(path)}`);
    }
    const isClosed = closed.includes(path);
    if (!isClosed && (stats.mode & 0o777 & ~maxMode) === 0) continue;
    const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
    const open = `Other accounts of this machine can access ${path} (mode ${mode}).`;
    const isSecret = basename(path).startsWith("secret.key") && stats.mode & 0o044;
    const message = isClosed ? `Its owner cannot read and write ${path}.` : open;
    const remedy = `chmod ${maxMode.toString(8)} ${quoteWord(path)}`;
    const found = finding(isClosed || isSecret ? "error" : "warning", path, message, remedy);
    yield { ...found, fix: () => chmodSync(path, maxMode) };
  }
}

/** Lists a directory and its files, each with the widest permitted mode. If the directory is missing, lists nothing. */
function listDirectory(dir: string, isPrivate: RegExp) {
  const stats = attempt(() => statSync(dir));
  if (!stats?.isDirectory()) return [];
  // The check `directory` reports a directory that cannot be read, so here it counts as empty.
  const files = (attempt(() => readdirSync(dir)) ?? []).flatMap((name) => {
    const path = join(dir, name);
    const stats = attempt(() => statSync(path));
    return stats && !stats.isDirectory() ? [{ path, stats, maxMode: isPrivate.test(name) ? 0o600 : 0o777 }] : [];
  });
  return [{ path: dir, stats, maxMode: 0o700 }, ...files];
}

const minFreeBytes = 100 * MiB;

/** File systems on which a database may be damaged, by their number in `statfs` on Linux. */
const networks: Record<number, string> = {
  ...{ 26985: "NFS", 20859: "SMB", 4266872130: "SMB", 4283649346: "CIFS", 12805120: "Ceph", 16914839: "9P" },
  1702057286: "FUSE",
};
const tmpfs = 0x01021994;
const overlay = 0x794c7630;

/** Checks that the database is on a suitable file system with enough space, and that its WAL is small. */
export async function* checkDisk({ config: { dataDir } }: CheckSubject): AsyncGenerator<Finding> {
  if (!existsSync(dataDir)) return;
  const path = databaseFile(dataDir);
  const [database = 0, wal = 0] = [path, `${path}-wal`].map((file) => attempt(() => statSync(file).size) ?? 0);
  if (wal > largeWalBytes) {
    const message = `The WAL of the database has ${formatBytes(wal)}: it cannot be emptied, or a server was killed.`;
    const remedy = `Search the server's log for "WAL". The disk may be faulty, or a program reads ${path} for long. Then restart the server.`;
    yield finding("warning", `${path}-wal`, message, remedy);
  }
  const isContainer = existsSync("/.dockerenv") || existsSync("/run/.containerenv");
  yield* describeDisk(dataDir, statfsSync(dataDir), { bytes: database + wal, isContainer });
}

export function* describeDisk(
  dir: string,
  { type, bsize, blocks, bavail }: Pick<StatsFs, "type" | "bsize" | "blocks" | "bavail">,
  { bytes, isContainer }: { bytes: number; isContainer: boolean },
): Generator<Finding> {
  const lost = "all data is lost when the machine or the container restarts";
  const reason =
    (networks[type] &&
      `a network file system (${networks[type]}), on which the locks of the database are not reliable`) ||
    (type === tmpfs && `a file system in memory (tmpfs): ${lost}`) ||
    (type === overlay && isContainer && `the writable layer of a container instead of a volume: ${lost}`);
  const toDisk = "Stop the server, move the data directory to a local disk, and name it with --data-dir.";
  if (reason) yield finding("warning", dir, `${dir} is on ${reason}.`, toDisk);
  const free = bavail * bsize;
  const wanted = GiB + 2 * bytes;
  // Some file systems report no blocks, so their free space is unknown.
  if (blocks === 0 || free >= wanted) return;
  const isFull = free < minFreeBytes;
  const consequence = isFull
    ? "When it is full, the server cannot write."
    : `A database of ${formatBytes(bytes)} needs ${formatBytes(wanted)} for its WAL and a backup.`;
  const message = `${formatBytes(free)} (${Math.floor((bavail / blocks) * 100)} %) are free on the disk of ${dir}. ${consequence}`;
  const remedy = `du -xh --max-depth=2 ${quoteWord(dir)} | sort -h | tail`;
  yield finding(isFull ? "error" : "warning", dir, message, remedy);
}

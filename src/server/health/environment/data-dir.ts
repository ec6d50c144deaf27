import { accessSync, chmodSync, constants, lchownSync, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { databaseFile } from "../../config/data-dir.ts";
import { findClosed } from "../../db/local/keep-modes.ts";
import { errnoOf } from "../../errors.ts";
import { quoteWord } from "../../values/shell-quote.ts";
import { type CheckSubject, type EnvironmentCheck, type Finding, finding, limitFindings } from "../finding.ts";

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

interface Entry {
  path: string;
  stats: Stats;
  maxMode: number;
}

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
    const foreign = [...ofTop, ...ofBackups]
      .filter(({ stats }) => stats.uid !== top.stats.uid)
      .map((entry) => describeForeign(entry, top.stats, uid));
    return [...closed, ...limitFindings(open, "files"), ...limitFindings(foreign, "files")];
  },
} satisfies EnvironmentCheck;

function describeOpen({ path, stats, maxMode }: Entry): Finding {
  const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
  const message = `Other accounts of this machine can access ${path} (mode ${mode}).`;
  const remedy = `chmod ${maxMode.toString(8)} ${quoteWord(path)}`;
  return { ...finding("warning", path, message, remedy), fix: async () => chmodSync(path, stats.mode & maxMode) };
}

function describeForeign({ path, stats }: Entry, owner: Stats, uid: CheckSubject["uid"]): Finding {
  const message = `${path} belongs to user ${stats.uid} and its directory to user ${owner.uid}. The server may not be able to open it.`;
  const found = finding("warning", path, message, `chown ${owner.uid}:${owner.gid} ${quoteWord(path)}`);
  // Only root may change the owner.
  return uid === 0 ? { ...found, fix: async () => lchownSync(path, owner.uid, owner.gid) } : found;
}

function listFiles(dir: string): Entry[] {
  try {
    const entries = readdirSync(dir).slice(0, maxFiles);
    return entries.flatMap((name) => readEntry(join(dir, name), 0o600)).filter(({ stats }) => !stats.isDirectory());
  } catch {
    return []; // `directory` reports it.
  }
}

/** The entry; empty where there is none. */
function readEntry(path: string, maxMode: number): Entry[] {
  try {
    return [{ path, stats: statSync(path), maxMode }];
  } catch {
    return [];
  }
}

import { accessSync, chmodSync, constants, lchownSync, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { quoteWord } from "../../values/shell-quote.ts";
import { type Finding, limitFindings } from "../finding.ts";
import type { CheckSubject, EnvironmentCheck } from "./check.ts";

const maxFiles = 1000;
/** Files with secrets, and files that others must not write; locks and the like are empty. */
const isPrivate = /^bodega[\w-]*\.db(?:-wal|-shm|-wal\.orphaned-\d+)?$|^secret\.key|^bodega\.env|\.sock$/;

/** The data directory exists, is writable, and belongs to this account. */
export const directory = {
  id: "directory",
  async run({ config: { dataDir, databaseUrl }, uid, command }) {
    const finding = (severity: Finding["severity"], message: string, remedy: string): Finding[] => [
      { severity, subject: dataDir, message, remedy },
    ];
    const stats = readStats(dataDir);
    if (typeof stats === "string") {
      if (stats !== "ENOENT") {
        const remedy = "Name the right folder with --data-dir or BODEGA_DATA_DIR.";
        return finding("error", `The data directory ${dataDir} cannot be opened (${stats}).`, remedy);
      }
      const message = `The data directory ${dataDir} does not exist. Name the right one with --data-dir or create a store.`;
      return databaseUrl === undefined ? finding("error", message, command("init")) : [];
    }
    const asOwner = `sudo -u ${quoteWord(`#${stats.uid}`)} bodega doctor --data-dir ${quoteWord(dataDir)}`;
    try {
      accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      const message = `This account cannot write to ${dataDir} (${(error as NodeJS.ErrnoException).code}). It belongs to user ${stats.uid}.`;
      return finding("error", message, asOwner);
    }
    if (uid === undefined || uid === stats.uid) return [];
    const message =
      `${dataDir} belongs to user ${stats.uid}, and you are user ${uid}. ` +
      "The server may not be able to open files that your commands create there.";
    return finding("warning", message, asOwner);
  },
} satisfies EnvironmentCheck;

function readStats(dataDir: string): Stats | string {
  try {
    const stats = statSync(dataDir);
    return stats.isDirectory() ? stats : "ENOTDIR";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown";
  }
}

interface Entry {
  path: string;
  stats: Stats;
  maxMode: number;
}

/** No other account can read or write the files of a data directory, and all have the same owner. */
export const files = {
  id: "files",
  async run(subject) {
    const { dataDir } = subject.config;
    const top = readEntry(dataDir, 0o700);
    if (!top?.stats.isDirectory()) return [];
    const backups = readEntry(join(dataDir, "backups"), 0o700);
    const ofBackups = backups?.stats.isDirectory() ? [backups, ...listFiles(backups.path)] : [];
    const ofTop = listFiles(dataDir);
    const open = [top, ...ofTop.filter(({ path }) => isPrivate.test(path.slice(dataDir.length + 1))), ...ofBackups]
      .filter(({ stats, maxMode }) => (stats.mode & 0o777 & ~maxMode) !== 0)
      .map(describeOpen);
    const foreign = [...ofTop, ...ofBackups]
      .filter(({ stats }) => stats.uid !== top.stats.uid)
      .map((entry) => describeForeign(entry, top.stats, subject));
    return [...limitFindings(open, "files"), ...limitFindings(foreign, "files")];
  },
} satisfies EnvironmentCheck;

function describeOpen({ path, stats, maxMode }: Entry): Finding {
  const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
  return {
    severity: "warning",
    subject: path,
    message: `Other accounts of this machine can access ${path} (mode ${mode}).`,
    remedy: `chmod ${maxMode.toString(8)} ${quoteWord(path)}`,
    fix: async () => chmodSync(path, stats.mode & maxMode),
  };
}

function describeForeign({ path, stats }: Entry, owner: Stats, { uid }: CheckSubject): Finding {
  return {
    severity: "warning",
    subject: path,
    message: `${path} belongs to user ${stats.uid} and its folder to user ${owner.uid}. The server may not be able to open it.`,
    remedy: `chown ${owner.uid}:${owner.gid} ${quoteWord(path)}`,
    // Only root may change the owner.
    ...(uid === 0 && { fix: async () => lchownSync(path, owner.uid, owner.gid) }),
  };
}

function listFiles(dir: string): Entry[] {
  try {
    return readdirSync(dir)
      .slice(0, maxFiles)
      .map((name) => readEntry(join(dir, name), 0o600))
      .filter((entry) => entry !== undefined && !entry.stats.isDirectory()) as Entry[];
  } catch {
    return []; // `directory` reports it.
  }
}

function readEntry(path: string, maxMode: number): Entry | undefined {
  try {
    return { path, stats: statSync(path), maxMode };
  } catch {
    return undefined;
  }
}

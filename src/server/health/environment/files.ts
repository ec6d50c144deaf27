import { chmodSync, lchownSync, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { quoteWord } from "../../values/shell-quote.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";
import { limitFindings } from "./limit-findings.ts";
import { formatMode } from "./wording.ts";

const maxFiles = 1000;
/** What is worth reading to a stranger, or to be written by one; locks and the like are empty. */
const isPrivate = /^bodega[\w-]*\.db(?:-wal|-shm|-wal\.orphaned-\d+)?$|^secret\.key|^bodega\.env|\.sock$/;

interface Entry {
  path: string;
  stats: Stats;
  most: number;
}

/** Who else may read or write the files of a data directory. */
export const files: Checkup = {
  name: "files",
  async find(about) {
    const { dataDir } = about.config;
    const top = look(dataDir, 0o700);
    if (!top?.stats.isDirectory()) return [];
    const backups = look(join(dataDir, "backups"), 0o700);
    const entries = [
      top,
      ...listFiles(dataDir).filter(({ path }) => isPrivate.test(path.slice(dataDir.length + 1))),
      ...(backups?.stats.isDirectory() ? [backups, ...listFiles(backups.path)] : []),
    ];
    const open = entries.filter(({ stats, most }) => (stats.mode & 0o777 & ~most) !== 0).map(describeOpen);
    const foreign = [...listFiles(dataDir), ...(backups ? [backups, ...listFiles(backups.path)] : [])]
      .filter(({ stats }) => stats.uid !== top.stats.uid)
      .map((entry) => describeForeign(entry, top.stats, about));
    return [...limitFindings(open, "files"), ...limitFindings(foreign, "files")];
  },
};

function describeOpen({ path, stats, most }: Entry): Finding {
  return {
    severity: "warning",
    subject: path,
    message: `Other accounts of this machine may get at ${path} (mode ${formatMode(stats.mode)}).`,
    remedy: `chmod ${most.toString(8)} ${quoteWord(path)}`,
    async mend() {
      chmodSync(path, stats.mode & most);
    },
  };
}

function describeForeign({ path, stats }: Entry, owner: Stats, { uid }: CheckupDeps): Finding {
  return {
    severity: "warning",
    subject: path,
    message: `${path} belongs to the account ${stats.uid}, and its folder to ${owner.uid}: the server may not get at it.`,
    remedy: `chown ${owner.uid}:${owner.gid} ${quoteWord(path)}`,
    // Only root can give files away.
    ...(uid === 0 && {
      async mend() {
        lchownSync(path, owner.uid, owner.gid);
      },
    }),
  };
}

function listFiles(dir: string): Entry[] {
  try {
    return readdirSync(dir)
      .slice(0, maxFiles)
      .map((name) => look(join(dir, name), 0o600))
      .filter((entry) => entry !== undefined && !entry.stats.isDirectory()) as Entry[];
  } catch {
    // Another check says that the folder cannot be read.
    return [];
  }
}

function look(path: string, most: number): Entry | undefined {
  try {
    return { path, stats: statSync(path), most };
  } catch {
    return undefined;
  }
}

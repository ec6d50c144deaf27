import { accessSync, constants, type Stats, statSync } from "node:fs";
import { quoteWord } from "../../values/shell-quote.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";

/** The folder of the database is there, belongs to who looks, and can be written. */
export const directory: Checkup = {
  name: "directory",
  async find(about) {
    const { dataDir, databaseUrl } = about.config;
    try {
      const stats = statSync(dataDir);
      if (!stats.isDirectory()) return [noDirectory(dataDir)];
      const closed = findAccess(about, stats);
      return closed.length > 0 ? closed : findOwner(about, stats);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOTDIR") return [noDirectory(dataDir)];
      if (code !== "ENOENT") return [unreadable(dataDir, code)];
      return databaseUrl === undefined ? [missing(about)] : [];
    }
  },
};

function missing({ config: { dataDir }, command }: CheckupDeps): Finding {
  return {
    severity: "error",
    subject: dataDir,
    message: `There is no folder ${dataDir}. Name the right one with --data-dir or BODEGA_DATA_DIR, or begin a new shop.`,
    remedy: command("init"),
  };
}

function noDirectory(dataDir: string): Finding {
  return {
    severity: "error",
    subject: dataDir,
    message: `${dataDir} is no folder.`,
    remedy: "Name the folder of the database with --data-dir or BODEGA_DATA_DIR.",
  };
}

function unreadable(dataDir: string, code = "unknown"): Finding {
  return {
    severity: "error",
    subject: dataDir,
    message: `The folder ${dataDir} cannot be looked into (${code}).`,
    remedy: "Run this as the account that the server runs as.",
  };
}

function findOwner({ config: { dataDir }, uid }: CheckupDeps, { uid: owner }: Stats): Finding[] {
  if (uid === undefined || uid === owner) return [];
  return [
    {
      severity: "warning",
      subject: dataDir,
      message:
        `${dataDir} belongs to the account ${owner}, and you are ${uid}. ` +
        "Files that your commands make there may be closed to the server.",
      remedy: asOwner(owner, dataDir),
    },
  ];
}

/** By name, since sudo keeps no environment. */
function asOwner(owner: number, dataDir: string): string {
  return `sudo -u ${quoteWord(`#${owner}`)} bodega doctor --data-dir ${quoteWord(dataDir)}`;
}

function findAccess({ config: { dataDir } }: CheckupDeps, { uid: owner }: Stats): Finding[] {
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return [];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EROFS") {
      return [
        {
          severity: "error",
          subject: dataDir,
          message: `${dataDir} lies on a file system that is mounted read-only.`,
          remedy: `mount -o remount,rw "$(findmnt -n -o TARGET --target ${quoteWord(dataDir)})"`,
        },
      ];
    }
    return [
      {
        severity: "error",
        subject: dataDir,
        message: `You may not read and write ${dataDir}, which belongs to the account ${owner}.`,
        remedy: asOwner(owner, dataDir),
      },
    ];
  }
}

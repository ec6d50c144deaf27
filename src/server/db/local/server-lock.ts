import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { databaseFile, makeDataDir } from "../../config/data-dir.ts";
import { FileLock } from "./file-lock.ts";
import { loadLibsql } from "./load-libsql.ts";

const fileName = "server.lock";
// A command that only asks holds the lock for a moment, and must not keep a server from starting.
const timeoutMs = 250;
// A lock that nobody refers to any more would be closed by the garbage collector, and so be given up.
const held = new Set<FileLock>();

/** Marks this process as the one server of the data directory until it is released or ends; null when there is one. */
export async function acquireServerLock(dataDir: string): Promise<{ release(): void } | null> {
  const libsql = await loadLibsql();
  makeDataDir(dataDir);
  const lock = new FileLock(libsql, lockPath(dataDir));
  const deadline = performance.now() + timeoutMs;
  while (!lock.tryExclusive()) {
    if (performance.now() > deadline) {
      lock.close();
      return null;
    }
    await Bun.sleep(20);
  }
  held.add(lock);
  return {
    release() {
      held.delete(lock);
      lock.close();
    },
  };
}

/** Whether a server works on this data directory now, in this process or another. */
export async function isServerRunning(dataDir: string): Promise<boolean> {
  const path = lockPath(dataDir);
  if (!existsSync(path)) return false;
  const lock = new FileLock(await loadLibsql(), path);
  try {
    return !lock.tryExclusive();
  } finally {
    lock.close();
  }
}

function lockPath(dataDir: string): string {
  return join(dirname(databaseFile(dataDir)), fileName);
}

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { databaseFile, makeDataDir } from "../../config/data-dir.ts";
import { FileLock, lockFile } from "./file-lock.ts";
import { loadLibsql } from "./load-libsql.ts";

const fileName = "server.lock";
// A command that asks holds the lock for a moment, and must not keep a server from starting.
const timeoutMs = 250;
// The garbage collector closes, and so releases, a lock without references.
const held = new Set<FileLock>();

/** Locks the data directory for this server until the lock is released or the process ends; null while another has it. */
export async function acquireServerLock(dataDir: string): Promise<{ release(): void } | null> {
  makeDataDir(dataDir);
  const lock = await lockFile(lockPath(dataDir), timeoutMs);
  if (!lock) return null;
  held.add(lock);
  return {
    release() {
      held.delete(lock);
      lock.close();
    },
  };
}

/** Whether a server uses this data directory now, in this process or another. */
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

import { randomBytes } from "node:crypto";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import type { Config } from "../config/config.ts";
import type { Environment } from "../config/environment.ts";
import { AppError, unavailable } from "../errors.ts";
import { type BackupMessage, type BackupReport, type BackupStep, jobEnvironment } from "./job.ts";
import { noteBackup } from "./last.ts";
import { partialPath } from "./store/folder-store.ts";
import { type BackupPlace, formatPlace, stagingFolder } from "./store/place.ts";

/** A backup to be made by a process of its own. */
export interface BackupRun {
  config: Config;
  /** How this program is started again, without arguments. */
  command: readonly string[];
  env: Environment;
  place: BackupPlace;
  keep: number | undefined;
  includeKey: boolean;
  by: "server" | "terminal";
  onStep?: (step: BackupStep) => void;
  /** Ends the process at once when it is aborted; the promise then rejects with the signal's reason. */
  signal: AbortSignal;
}

/** Low, and not the lowest: on a busy machine it must still end, since the log grows for as long as it copies. */
const lowPriority = 5;
const maxWordsBytes = 2000;
const takeBackMs = 3000;

/**
 * Makes a backup in a process of its own, since copying blocks whoever does it. Whatever ends that process, nothing
 * unfinished stays. How it went is written down in `backups/last.json`.
 * @throws AppError as `makeBackup`; unavailable when the process was ended.
 */
export async function runBackup(run: BackupRun): Promise<BackupReport> {
  const id = randomBytes(8).toString("hex");
  const { config, place, signal, by } = run;
  signal.throwIfAborted();
  let outcome: BackupReport | AppError | undefined;
  const take = (message: BackupMessage) => {
    if ("report" in message) outcome = message.report;
    else if ("error" in message) {
      const { kind, exit, message: text, remedy } = message.error;
      outcome = new AppError(kind, text, { exit, remedy });
    } else run.onStep?.(message);
  };
  const child = Bun.spawn([...run.command, ...backupArguments(run)], {
    env: { ...run.env, ...configEnvironment(config), ...jobEnvironment({ id, by }) },
    stdin: "ignore",
    stdout: place.kind === "stdout" ? "inherit" : "ignore",
    stderr: "pipe",
    ipc: take,
    // A session of its own: ctrl-C is for this process to judge, and the system shares out its processors by sessions.
    detached: true,
  });
  giveWay(child.pid);
  const kill = () => child.kill("SIGKILL");
  const abort = () => {
    if (place.kind !== "s3") return kill();
    // What has gone up in parts lies there, unseen and paid for, until somebody takes it back: that needs a moment.
    child.disconnect();
    setTimeout(kill, takeBackMs).unref();
  };
  signal.addEventListener("abort", abort);
  try {
    const words = (await child.stderr.text()).slice(-maxWordsBytes).trim();
    await child.exited;
    signal.throwIfAborted();
    if (outcome === undefined) {
      const how = child.signalCode === null ? `exit code ${child.exitCode}` : `signal ${child.signalCode}`;
      outcome = unavailable(`The process that made the backup ended (${how})${words === "" ? "" : `: ${words}`}.`);
    }
  } finally {
    signal.removeEventListener("abort", abort);
    removeUnfinished(run, id);
  }
  const at = new Date().toISOString();
  if (outcome instanceof AppError) {
    noteBackup(config.dataDir, { last_failure: { at, message: outcome.message } });
    throw outcome;
  }
  const { backup, bytes } = outcome;
  noteBackup(config.dataDir, { last_success: { at, place: backup, bytes }, last_failure: null });
  return outcome;
}

/** Lets everybody else have the processors first. As soon as it has started: its threads inherit it. */
function giveWay(pid: number): void {
  try {
    setPriority(pid, lowPriority);
    // Where sessions compete as groups, as on most Linux systems, it is the group's own figure that counts.
    if (existsSync(`/proc/${pid}/autogroup`)) writeFileSync(`/proc/${pid}/autogroup`, String(lowPriority));
  } catch {
    // It has ended already, or may not be slowed down: then it takes its share as every process does.
  }
}

/** Takes away what the backup of that id has not brought to its end. */
export function removeUnfinished({ config, place }: Pick<BackupRun, "config" | "place">, id: string): void {
  remove(stagingFolder(config.dataDir, id));
  if (place.kind === "folder") remove(partialPath(place.path, id));
}

/** Takes away what may not even be there, in a place that may not be one. */
function remove(path: string): void {
  if (existsSync(path)) rmSync(path, { recursive: true, force: true });
}

function backupArguments({ place, keep, includeKey }: BackupRun): string[] {
  return [
    ...["db", "backup", "--to", formatPlace(place)],
    ...(keep === undefined ? [] : ["--keep", String(keep)]),
    ...(includeKey ? ["--include-key"] : []),
  ];
}

/** Hands on what flags may have said, and what is secret. */
function configEnvironment(config: Config): Environment {
  return {
    BODEGA_DATA_DIR: config.dataDir,
    BODEGA_DATABASE_URL: config.databaseUrl,
    BODEGA_DATABASE_AUTH_TOKEN: config.databaseAuthToken,
    BODEGA_SECRET: config.secret,
  };
}

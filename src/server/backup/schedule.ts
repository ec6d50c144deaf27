import type { Config } from "../config/config.ts";
import { type Environment, invalidOption } from "../config/environment.ts";
import type { Database } from "../db/session.ts";
import { AppError } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import type { BackupReport, BackupStep } from "./job.ts";
import { readBeginning } from "./restore/inspect.ts";
import { runBackup } from "./run-backup.ts";
import { readBackupTime } from "./store/names.ts";
import { openStore } from "./store/open-store.ts";
import { type BackupPlace, backupsFolder, readPlace } from "./store/place.ts";
import { listOwnBackups } from "./store/prune.ts";

/** After a failure it is tried again this soon, or after the usual span where that is shorter. */
const retryMs = 5 * 60_000;

/** How this program is started again. */
interface Self {
  command: readonly string[];
  env: Environment;
}

/**
 * Makes backups for as long as the server runs: the first when the newest one that lies in the place is older than the
 * span, so that a restart neither makes one each time nor puts it off.
 * @throws validationFailed when the place is none for several backups, or has no account.
 */
export function startBackups(
  config: Config & { backupEveryMs: number },
  db: Database,
  { command, env }: Self,
  notice: LogWriter["notice"],
): { stop(): Promise<void> } {
  const { backupEveryMs: everyMs, backupKeep: keep } = config;
  const place = readPlace(config.backupTo ?? backupsFolder(config.dataDir), "--backup-to");
  if (place.kind === "stdout" || place.name !== undefined) throw invalidOption("--backup-to", "must be a folder");
  openStore(place, config);
  const stopping = new AbortController();
  const { signal } = stopping;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> = Promise.resolve();

  const plan = (work: () => Promise<number>, delayMs: number) => {
    timer = setTimeout(() => {
      running = work()
        .catch((error) => {
          if (signal.aborted) return 0;
          const reason = error instanceof AppError ? error.message : String(error);
          const wait = Math.min(retryMs, everyMs);
          notice("warn", `the backup failed, and is tried again in ${Math.ceil(wait / 1000)} s: ${reason}`);
          return wait;
        })
        .then((nextMs) => {
          if (!signal.aborted) plan(backUp, nextMs);
        });
    }, delayMs);
  };

  async function backUp(): Promise<number> {
    const onStep = ({ step }: BackupStep) => {
      if (step === "waiting") notice("info", "the backup waits for another one of this data directory to end");
    };
    const report = await runBackup({
      config,
      command,
      env,
      place,
      keep,
      includeKey: false,
      by: "server",
      onStep,
      signal,
    });
    notice("info", describe(report));
    for (const warning of report.warnings) notice("warn", `the backup ${report.backup} is made, but ${warning}`);
    return Math.max(0, Date.parse(report.created_at) + everyMs - Date.now());
  }

  async function begin(): Promise<number> {
    const newest = await findNewest(place, config, db);
    return newest === undefined ? 0 : Math.min(everyMs, Math.max(0, newest + everyMs - Date.now()));
  }

  plan(begin, 0);
  return {
    async stop() {
      clearTimeout(timer);
      stopping.abort(new Error("The server stops."));
      await running;
    },
  };
}

/** When the newest backup of this database in the place was made, epoch milliseconds; undefined where there is none. */
async function findNewest(place: BackupPlace, config: Config, db: Database): Promise<number | undefined> {
  const begunAt = await readBeginning(async (sql) => (await db.execute(sql)).rows);
  const newest = (await listOwnBackups(openStore(place, config), begunAt)).at(-1);
  return newest === undefined ? undefined : readBackupTime(newest);
}

function describe({ backup, bytes, removed }: BackupReport): string {
  const old = removed.length === 0 ? "" : `; ${removed.length} older removed`;
  return `backup made: ${backup} (${bytes} bytes${old})`;
}

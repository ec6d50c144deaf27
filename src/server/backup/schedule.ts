import type { Config } from "../config/config.ts";
import { invalidOption } from "../config/environment.ts";
import type { LogWriter } from "../logging/logger.ts";
import { openStorage } from "../object-store/open-storage.ts";
import { formatBytes } from "../values/bytes.ts";
import type { BackupReport } from "./backup-report.ts";
import { readLast, recordResult } from "./last.ts";
import { backupsFolder, formatLocation, parseDestination } from "./location.ts";
import { type CommandRun, runServerCommand } from "./server-command.ts";

const retryMs = 5 * 60_000;
/** A hanging place must not block later backups. */
const timeoutMs = 4 * 3_600_000;
/**
 * Starts scheduled backups. The first one waits until the last backup is old enough, so that restarts neither add nor
 * delay backups.
 * @throws validationFailed if the destination cannot take several backups, or has no account.
 */
export function startBackups(
  config: Config & { backupEveryMs: number },
  { command, env, notice }: CommandRun & Pick<LogWriter, "notice">,
): { stop(): Promise<void> } {
  const { backupEveryMs: everyMs, backupKeep: keep } = config;
  const location = parseDestination(config.backupTo ?? backupsFolder(config.dataDir), "--backup-to");
  if (location.kind === "stdout" || location.name !== undefined) {
    throw invalidOption("--backup-to", "must be a directory or s3://bucket/prefix");
  }
  openStorage(location.place, config);
  const stopping = new AbortController();
  const { signal } = stopping;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> = Promise.resolve();

  async function backUp(): Promise<void> {
    const words = ["db", "backup", "--to", location.place, ...(keep === undefined ? [] : ["--keep", String(keep)])];
    const { stdout, failure } = await runServerCommand(config, words, { command, env, signal, timeoutMs });
    if (signal.aborted) return;
    if (failure !== undefined) {
      const delayMs = Math.min(retryMs, everyMs);
      recordResult(config.dataDir, "backup", { last_failure: { at: new Date().toISOString(), message: failure } });
      notice("warn", `the backup failed, next attempt in ${Math.ceil(delayMs / 1000)} s: ${failure}`);
      return schedule(delayMs);
    }
    const { backup, bytes, removed, warnings, created_at }: BackupReport = JSON.parse(stdout);
    const old = removed.length === 0 ? "" : `; ${removed.length} older removed`;
    notice("info", `backup made: ${backup} (${formatBytes(bytes)}${old})`);
    for (const warning of warnings) notice("warn", `the backup ${backup} is complete, but ${warning}`);
    schedule(Math.max(0, Date.parse(created_at) + everyMs - Date.now()));
  }

  function schedule(delayMs: number): void {
    timer = setTimeout(() => {
      running = backUp();
    }, delayMs);
  }

  const { last_success: last } = readLast(config.dataDir, "backup");
  const isSamePlace = last?.place.startsWith(formatLocation(location)) ?? false;
  const nextAt = last && isSamePlace ? Date.parse(last.at) + everyMs : 0;
  schedule(Math.min(everyMs, Math.max(0, nextAt - Date.now())));
  return {
    async stop() {
      clearTimeout(timer);
      stopping.abort();
      await running;
    },
  };
}

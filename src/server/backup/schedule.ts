import type { Config } from "../config/config.ts";
import { invalidOption } from "../config/environment.ts";
import { AppError } from "../errors.ts";
import type { LogWriter } from "../logging/logger.ts";
import { openStorage } from "../object-store/open-storage.ts";
import { formatBytes } from "../values/bytes.ts";
import type { BackupStep } from "./job.ts";
import { readLast } from "./last.ts";
import { backupsFolder, formatLocation, parseDestination } from "./location.ts";
import { type BackupRun, runBackup } from "./run-backup.ts";

const retryMs = 5 * 60_000;
/**
 * The first backup waits until the last one is old enough, so that restarts neither add backups nor postpone them.
 * @throws validationFailed when the destination cannot take several backups, or has no account.
 */
export function startBackups(
  config: Config & { backupEveryMs: number },
  { command, env, notice }: Pick<BackupRun, "command" | "env"> & Pick<LogWriter, "notice">,
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

  const onStep = ({ step }: BackupStep) => {
    if (step === "waiting") notice("info", "the backup waits until another backup of this data directory ends");
  };

  async function backUp(): Promise<void> {
    let delayMs = everyMs;
    try {
      const run = { config, command, env, location, keep, includeKey: false, by: "server" as const };
      const report = await runBackup({ ...run, onStep, signal });
      delayMs = Math.max(0, Date.parse(report.created_at) + everyMs - Date.now());
      const { backup, bytes, removed, warnings } = report;
      const old = removed.length === 0 ? "" : `; ${removed.length} older removed`;
      notice("info", `backup made: ${backup} (${formatBytes(bytes)}${old})`);
      for (const warning of warnings) notice("warn", `the backup ${backup} is complete, but ${warning}`);
    } catch (error) {
      if (signal.aborted) return;
      delayMs = Math.min(retryMs, everyMs);
      const reason = error instanceof AppError ? error.message : String(error);
      notice("warn", `the backup failed, next attempt in ${Math.ceil(delayMs / 1000)} s: ${reason}`);
    }
    if (!signal.aborted) schedule(delayMs);
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
      stopping.abort(new Error("The server stops."));
      await running;
    },
  };
}

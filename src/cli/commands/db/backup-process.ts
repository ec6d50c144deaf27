import type { BackupJob, BackupMessage } from "../../../server/backup/job.ts";
import type { BackupPlace } from "../../../server/backup/store/place.ts";
import type { Config } from "../../../server/config/config.ts";
import { accountName } from "../../context/account-name.ts";
import { findReason } from "../../framework/report-error.ts";
import { buildInfo } from "../../terminal/build-info.ts";

/** Steps are told no more often than this. */
const tellEveryMs = 100;
/** How often it looks whether the process that asked is still there. */
const lookEveryMs = 1000;
/** What is given to taking everything back once that has gone; a call that nobody answers must not keep it here. */
const maxFarewellMs = 5000;

/** What a backup's process is asked to do by its flags. */
interface BackupWork {
  config: Config;
  place: BackupPlace;
  keep: number | undefined;
  includeKey: boolean;
}

/**
 * Makes a backup in this process, for the one that started it: tells that of every step, of the report or the error, and
 * ends without it.
 * @returns the exit code.
 */
export async function beBackupProcess(job: BackupJob, work: BackupWork): Promise<number> {
  const { makeBackup } = await import("../../../server/backup/make-backup.ts");
  const { removeUnfinished } = await import("../../../server/backup/run-backup.ts");
  const gone = watchAsker(() => removeUnfinished(work, job.id));
  let told = 0;
  const { AppError } = await import("../../../server/errors.ts");
  try {
    const report = await makeBackup(work.config, {
      ...work,
      id: job.id,
      version: buildInfo.version,
      actor: job.by === "server" ? { kind: "server" } : { kind: "terminal", account: accountName() },
      stdout: process.stdout,
      signal: gone,
      onStep: (step) => {
        const now = performance.now();
        if (step.done !== undefined && now - told < tellEveryMs) return;
        told = now;
        void tell(step);
      },
    });
    await tell({ report });
    return 0;
  } catch (error) {
    const { kind, exit, message, remedy } =
      error instanceof AppError
        ? error
        : {
            kind: "internalError" as const,
            exit: 1 as const,
            message: `Internal error: ${findReason(error)}`,
            remedy: undefined,
          };
    await tell({ error: { kind, exit, message, remedy } });
    return 1;
  }
}

/** Tells when the process that asked has gone, by whichever sign; this one then ends too, whatever it waits for. */
function watchAsker(removeAll: () => void): AbortSignal {
  const gone = new AbortController();
  const asker = process.ppid;
  const leave = () => {
    if (gone.signal.aborted) return;
    gone.abort(new Error("The process that asked for the backup has ended."));
    const end = () => {
      removeAll();
      process.exit(1);
    };
    setTimeout(end, maxFarewellMs).unref();
  };
  process.on("disconnect", leave);
  if (!process.connected) leave();
  const look = () => {
    if (process.ppid !== asker) leave();
  };
  setInterval(look, lookEveryMs).unref();
  return gone.signal;
}

function tell(message: BackupMessage): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected || !process.send) return resolve();
    process.send(message, undefined, undefined, () => resolve());
  });
}

import type { BackupJob, BackupMessage } from "../../../server/backup/job.ts";
import type { Config } from "../../../server/config/config.ts";
import { locateFailure } from "../../../server/db/failure.ts";
import { accountName } from "../../context/context.ts";
import { findReason } from "../../framework/report-error.ts";
import { buildInfo } from "../../terminal/build-info.ts";

const progressMs = 100;
/** How long removing an upload may take once the parent has gone. */
const cleanUpMs = 5000;

export async function runBackupJob(job: BackupJob, config: Config): Promise<number> {
  const { makeBackup } = await import("../../../server/backup/make-backup.ts");
  const { removeUnfinished } = await import("../../../server/backup/run-backup.ts");
  const { AppError, internalError } = await import("../../../server/errors.ts");
  let sentAt = 0;
  try {
    const report = await makeBackup(config, {
      ...job,
      version: buildInfo.version,
      actor: job.by === "server" ? { kind: "server" } : { kind: "terminal", account: accountName() },
      stdout: process.stdout,
      signal: abortWithParent(() => removeUnfinished(config, job)),
      onStep(step) {
        const now = performance.now();
        if (step.done !== undefined && now - sentAt < progressMs) return;
        sentAt = now;
        void send(step);
      },
    });
    await send({ report });
    return 0;
  } catch (error) {
    const located = locateFailure(error, config);
    const known = located instanceof AppError ? located : internalError(`Internal error: ${findReason(error)}`);
    const { kind, exit, message, remedy } = known;
    await send({ error: { kind, exit, message, remedy } });
    return 1;
  }
}

/** Aborts when the parent ends or cancels. This process then exits too, even while it waits for something. */
function abortWithParent(cleanUp: () => void): AbortSignal {
  const aborting = new AbortController();
  const abort = () => {
    if (aborting.signal.aborted) return;
    aborting.abort(new Error("The process that started the backup has ended."));
    const end = () => {
      cleanUp();
      process.exit(1);
    };
    setTimeout(end, cleanUpMs).unref();
  };
  process.on("disconnect", abort);
  if (!process.connected) abort();
  return aborting.signal;
}

function send(message: BackupMessage): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected || !process.send) return resolve();
    process.send(message, undefined, undefined, () => resolve());
  });
}

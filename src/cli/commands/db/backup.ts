import type { BackupReport, BackupStep } from "../../../server/backup/job.ts";
import { requireDatabase } from "../../context/context.ts";
import { readCliConfig } from "../../context/read-config.ts";
import { defineCommand } from "../../framework/command.ts";
import { buildCommand } from "../../terminal/build-info.ts";
import type { Console } from "../../terminal/console.ts";
import { info, printRecord, warn } from "../../terminal/output.ts";
import { startProgress } from "../../terminal/progress.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { CancelledError, UsageError } from "../../terminal/usage-error.ts";

const halfway = 50;

export default defineCommand({
  name: "backup",
  description: "Back the database up, also while a server writes",
  args: {
    to: {
      type: "string",
      valueHint: "place",
      configEnv: "BODEGA_BACKUP_TO",
      completes: "file",
      description:
        "Folder, file that ends in .tar.gz, s3://bucket/prefix, or - for standard output (default: backups in the data directory)",
    },
    keep: {
      type: "string",
      valueHint: "number",
      description: "Remove older backups of this database from the folder, so that this many stay (default: all)",
    },
    "include-key": {
      type: "boolean",
      description: "Put the secret key into the backup as well: whoever has it can then open what is sealed",
    },
  },
  examples: [
    "bodega db backup",
    "bodega db backup --to /mnt/backups --keep 14",
    "bodega db backup --to - | ssh backup@example.com 'cat > shop.tar.gz'",
    "bodega db backup --to s3://my-bucket/shop --keep 30 --json",
  ],
  notes: [
    "A backup holds the database as it is at one moment, is checked before it gets its name, and carries its checksum and " +
      "schema: a compressed archive that `tar xzf` opens. `bodega db restore` reads it.",
    "The secret key (secret.key or BODEGA_SECRET) is not in it: keep a copy of that elsewhere. Without it second factors, " +
      "waiting mail and the secrets of webhooks in the backup cannot be opened.",
    "S3 takes its account from BODEGA_S3_ACCESS_KEY_ID and BODEGA_S3_SECRET_ACCESS_KEY, and BODEGA_S3_ENDPOINT and " +
      "BODEGA_S3_REGION where it is not Amazon's own. `bodega serve --backup-every 24h` makes backups by itself.",
  ],
  async run(args, console) {
    const config = readCliConfig(args, console);
    const { readPlace, backupsFolder } = await import("../../../server/backup/store/place.ts");
    const { readJob } = await import("../../../server/backup/job.ts");
    const place = readPlace(args.to ?? config.backupTo ?? backupsFolder(config.dataDir), "--to");
    const work = { config, place, keep: readKeep(args.keep), includeKey: args["include-key"] };
    const job = readJob(console.env);
    if (job !== undefined) {
      const { beBackupProcess } = await import("./backup-process.ts");
      return beBackupProcess(job, work);
    }
    if (place.kind === "stdout") refuseOnScreen(console);
    await requireDatabase(args, console);
    const isNamed = place.kind === "stdout" || place.name !== undefined;
    if (isNamed && args.keep !== undefined) throw badKeep("needs a folder or an s3://bucket/prefix in --to");
    if (place.kind === "folder" && place.name !== undefined)
      await confirmReplacing(console, `${place.path}/${place.name}`);
    const { runBackup } = await import("../../../server/backup/run-backup.ts");
    const { env } = console;
    const report = await watch(console, (onStep, signal) =>
      runBackup({ ...work, command: buildCommand(), env, by: "terminal", onStep, signal }),
    );
    await printReport(console, report, place.kind === "stdout");
  },
});

/** Runs it under a progress bar; ctrl-C ends it, and what it has made so far goes. */
async function watch(
  console: Console,
  work: (onStep: (step: BackupStep) => void, signal: AbortSignal) => Promise<BackupReport>,
): Promise<BackupReport> {
  const stop = new AbortController();
  console.onInterrupt(() => stop.abort(new CancelledError()));
  const progress = startProgress(console, 2 * halfway);
  try {
    return await work(({ step, done = 0, total = 0 }) => {
      const share = total > 0 ? Math.min(1, done / total) * halfway : 0;
      if (step === "waiting") {
        progress.show(0, "waiting for another backup to end");
        if (!console.screen)
          void info(console, "Another backup of this data directory is being made: waiting for it to end.");
      } else progress.show(step === "copying" ? share : halfway + (step === "packing" ? share : 0), step);
    }, stop.signal);
  } finally {
    progress.end();
  }
}

async function printReport(
  console: Console,
  { warnings, removed, ...report }: BackupReport,
  isOnStdout: boolean,
): Promise<void> {
  for (const warning of warnings) if (!console.json) await warn(console, `The backup is made, but ${warning}`);
  if (isOnStdout)
    return info(console, `The backup is written: ${report.database_bytes} bytes of database, ${report.stores} stores`);
  await printRecord(console, { ...report, removed, ...(console.json && { warnings }) }, "backup");
}

function readKeep(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(text)) throw badKeep("must be a whole number from 1 to 99999");
  return Number(text);
}

function badKeep(message: string): UsageError {
  return new UsageError(`--keep ${message}.`, { details: [{ field: "--keep", message }] });
}

function refuseOnScreen(console: Console): void {
  if (console.json)
    throw new UsageError("--json would stand within the backup.", { hint: "Give --to <file> as well." });
  if (!console.stdoutIsTerminal) return;
  const message = "needs a file or pipe behind it, not a terminal";
  throw new UsageError(`--to - ${message}.`, {
    hint: "bodega db backup --to - > shop.tar.gz",
    details: [{ field: "--to", message }],
  });
}

async function confirmReplacing(console: Console, path: string): Promise<void> {
  if (await Bun.file(path).exists()) await confirmAction(console, `Replace the file ${path}?`);
}

import type { TakeStep } from "../../../server/backup/restore/fetch-backup.ts";
import type { RestorePlan } from "../../../server/backup/restore/restore.ts";
import { accountName } from "../../context/account-name.ts";
import { readCliConfig } from "../../context/read-config.ts";
import { defineCommand } from "../../framework/command.ts";
import type { Console } from "../../terminal/console.ts";
import { formatValue, info, printJson, printRecord, warn } from "../../terminal/output.ts";
import { type Progress, startProgress } from "../../terminal/progress.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { CancelledError } from "../../terminal/usage-error.ts";
import { renderComparison } from "./backup-comparison.ts";

const terminatedExitCode = 143;
const interruptedExitCode = 130;

/** What ctrl-C does: it breaks off what is being done, and ends a question that nobody has answered. */
interface Stop {
  controller: AbortController;
  isAsking: boolean;
}

export default defineCommand({
  name: "restore",
  description: "Put a backup in the place of the database, while no server runs",
  args: {
    backup: {
      type: "positional",
      required: true,
      description: "File or s3:// address of the backup; - is standard input",
    },
    "dry-run": { type: "boolean", description: "Look through the backup and say what is in it; change nothing" },
    "with-key": {
      type: "boolean",
      description: "Put the backup's secret key into the data directory as well, where there is none",
    },
  },
  examples: [
    "bodega db restore bodega-data/backups/bodega-20261121T104512.345Z.tar.gz --dry-run",
    "bodega db restore /mnt/backups/bodega-20261121T104512.345Z.tar.gz --yes",
    "bodega db restore s3://my-bucket/shop/bodega-20261121T104512.345Z.tar.gz",
    "ssh backup@example.com cat shop.tar.gz | bodega db restore - --yes",
  ],
  notes: [
    "The backup is looked through first: checksum, damage, references, and a schema that this version knows, with all of " +
      "its tables, indexes and triggers and no others. Nothing is changed unless all of it is right. The database files " +
      "that Bodega keeps before migrations and restores (.db) can be restored as well.",
    "What was there is kept in the folder backups of the data directory, as before-restore-<time>.db. Everything since " +
      "the backup was made is then only there: orders, sign-ins, keys and tokens, and what was revoked is valid again.",
    "Into a libSQL server (--database-url) a backup goes only when the database there is empty.",
  ],
  async run(args, console) {
    const config = readCliConfig(args, console);
    const isDryRun = args["dry-run"];
    const { readSource } = await import("../../../server/backup/store/place.ts");
    const { isServerRunning } = await import("../../../server/db/local/server-lock.ts");
    const { applyRestore, planRestore, serverRuns, stopIfAsked } = await import(
      "../../../server/backup/restore/restore.ts"
    );
    const { takeBackup } = await import("../../../server/backup/restore/fetch-backup.ts");
    const { makeTakingFolder } = await import("../../../server/backup/restore/temp-dir.ts");
    const source = readSource(args.backup, "<backup>");
    if (!isDryRun && (await isServerRunning(config.dataDir))) throw serverRuns(config.dataDir);
    const stop = listenForStop(console);
    const folder = await makeTakingFolder(config.dataDir, !isDryRun);
    const remove = () => folder.remove();
    const terminate = () => process.exit(terminatedExitCode);
    process.once("exit", remove).once("SIGTERM", terminate);
    try {
      const plan = await watch(console, stop, async (progress, signal) => {
        const stdin = () => process.stdin;
        const onStep = (step: TakeStep) => showStep(progress, step);
        const taken = await takeBackup(source, config, folder.path, { stdin, onStep, signal });
        await stopIfAsked(signal);
        return planRestore(taken, config);
      });
      const summary = summarize(args.backup, plan);
      if (isDryRun) return await printDryRun(console, summary, plan);
      for (const warning of plan.warnings) if (!console.json) await warn(console, warning);
      if (!console.quiet && !console.json) await console.writeError(await renderComparison(console, plan));
      stop.isAsking = true;
      await confirmAction(
        console,
        plan.present === null ? "Restore this backup?" : "Replace the present database by this backup?",
      );
      stop.isAsking = false;
      const { kept, keyRestored } = await watch(console, stop, (progress, signal) =>
        applyRestore(plan, config, {
          actor: { kind: "terminal", account: accountName() },
          withKey: args["with-key"],
          signal,
          onProgress: (done, total) => progress.show((done / Math.max(total, 1)) * 100, "loading"),
        }),
      );
      await printResult(console, { ...summary, restored: true, kept, key_restored: keyRestored }, plan);
    } finally {
      process.off("exit", remove).off("SIGTERM", terminate);
      remove();
    }
  },
});

/** Listens for ctrl-C from now on, also between the steps. */
function listenForStop(console: Console): Stop {
  const stop: Stop = { controller: new AbortController(), isAsking: false };
  console.onInterrupt(() => {
    stop.controller.abort(new CancelledError());
    if (stop.isAsking) process.exit(interruptedExitCode);
  });
  return stop;
}

/** Runs a step under a progress bar that ctrl-C ends. */
async function watch<T>(
  console: Console,
  stop: Stop,
  work: (progress: Progress, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal } = stop.controller;
  signal.throwIfAborted();
  const progress = startProgress(console, 100);
  try {
    return await work(progress, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    progress.end();
  }
}

function showStep(progress: Progress, step: TakeStep): void {
  if (step.step === "checking") progress.show(100, "checking");
  else progress.show(step.total === undefined ? 0 : (step.done / Math.max(step.total, 1)) * 100, "reading");
}

/** The result as `--json` prints it, before anything is done. */
function summarize(from: string, { taken, present, key, warnings }: RestorePlan) {
  const { manifest, inspection, missing } = taken;
  return {
    restored: false,
    backup: {
      from,
      created_at: manifest?.created_at ?? null,
      version: manifest?.version ?? null,
      schema: inspection.schema.at(-1)?.name ?? null,
      key_included: taken.key !== undefined,
      ...inspection.contents,
    },
    present,
    kept: null as string | null,
    key,
    key_restored: false,
    missing_migrations: missing,
    warnings,
  };
}

type Summary = ReturnType<typeof summarize>;

async function printDryRun(console: Console, summary: Summary, plan: RestorePlan): Promise<void> {
  if (console.json) return printJson(console, summary);
  if (!console.quiet) await console.write(await renderComparison(console, plan));
  for (const warning of plan.warnings) await warn(console, warning);
  await info(console, "The backup is sound. Nothing was changed.");
}

async function printResult(console: Console, summary: Summary, { present }: RestorePlan): Promise<void> {
  if (console.json) return printJson(console, summary);
  const { restored, kept, key_restored } = summary;
  if (console.quiet) return kept === null ? undefined : console.write(`${formatValue(kept)}\n`);
  await printRecord(console, { restored, kept, key_restored }, "kept");
  if (present !== null) {
    await info(
      console,
      "Who signed in since the backup was made signs in again; keys and tokens that were revoked since are valid again.",
    );
  }
}

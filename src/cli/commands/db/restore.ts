import type { BackupLocation } from "../../../server/backup/location.ts";
import type { FetchStep } from "../../../server/backup/restore/fetch-backup.ts";
import type { RestorePlan } from "../../../server/backup/restore/restore.ts";
import type { Config } from "../../../server/config/config.ts";
import { accountName, readCliConfig } from "../../context/context.ts";
import { type ArgValues, type CommandArgs, valueArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parsePastTime } from "../../framework/parse-values.ts";
import {
  CancelledError,
  type Console,
  formatValue,
  info,
  invalidFlag,
  printRecord,
  warn,
} from "../../terminal/console.ts";
import { withProgress } from "../../terminal/progress.ts";
import { confirmAction, confirmName } from "../../terminal/prompt.ts";
import { onExit } from "../../terminal/terminal.ts";
import { layOutTable } from "../../terminal/text.ts";

const maxNamed = 20;

const restoreArgs = {
  backup: wordArg("File or s3:// address of a backup, or directory or s3:// address of a replica"),
  at: valueArg("time", "Restore the state of a replica at this time (RFC 3339; default: its newest state)", {
    parse: (flag: string, text: string) => Date.parse(parsePastTime(flag, text)),
  }),
  confirm: valueArg("namespace", "Namespace of the store that the command asks for, to confirm without a terminal"),
  "without-signature": {
    type: "boolean",
    description: "Restore a replica whose secret key is lost; nothing then proves who wrote the replica",
  },
  "dry-run": { type: "boolean", description: "Verify the backup and show its content; change nothing" },
} as const satisfies CommandArgs;

type Values = ArgValues<typeof restoreArgs>;

export default defineCommand({
  description: "Replace the database with a backup; no server may be running",
  args: restoreArgs,
  examples: [
    "bodega db restore /mnt/backups/bodega-20261121T104512.345Z.tar.gz --dry-run",
    "bodega db restore s3://my-bucket/shop --at 2026-11-21T10:45:12Z",
  ],
  notes: [
    "First, the command verifies the backup's checksum, pages and references, and that this version knows the backup's " +
      "schema. If a check fails, nothing is changed. The database files that Bodega keeps before migrations and restores (.db) " +
      "can be restored as well.",
    "If a store of the present database is not in the backup, the backup may be from another shop. The command then asks " +
      "for the namespace of this store, even with --yes.",
    "A replica is verified with the server's secret key: copy secret.key to the data directory first. If the key is lost, " +
      "--without-signature restores the replica unverified, and asks for the namespace of its first store.",
    "The previous database is kept as backups/before-restore-<time>.db in the data directory. Only that file contains the orders, " +
      "users and keys that are newer than the backup. Keys and tokens that were revoked after the backup are valid again.",
    "With --database-url, the libSQL server's database must be empty.",
  ],
  async run(args, console) {
    const config = readCliConfig(args, console);
    const isDryRun = args["dry-run"];
    const { parseSource } = await import("../../../server/backup/location.ts");
    const { isServerRunning } = await import("../../../server/db/local/file-lock.ts");
    const { applyRestore, serverRuns } = await import("../../../server/backup/restore/restore.ts");
    const { makeRestoreTempDir } = await import("../../../server/backup/restore/temp-dir.ts");
    const source = parseSource(args.backup, "<backup>");
    if (!isDryRun && (await isServerRunning(config.dataDir))) throw serverRuns(config.dataDir);
    const stop = new AbortController();
    console.onInterrupt(() => stop.abort(new CancelledError()));
    const { signal } = stop;
    const { path: folder, remove } = await makeRestoreTempDir(config.dataDir, !isDryRun);
    const forget = onExit(remove);
    try {
      const { plan, noteRestored } = await makePlan({ ...args, source, config, folder }, console, signal);
      const summary = summarize(args.backup, plan);
      if (isDryRun) return await printDryRun(console, summary, plan);
      await confirmRestore(args, console, plan);
      const actor = { kind: "terminal", account: accountName() } as const;
      const kept = await withProgress(console, 100, (show) => {
        const onProgress = (done: number, total: number) => show(percentOf(done, total), "loading");
        const onWait = (holders: string) => void info(console, `Waiting for ${holders}.`);
        return applyRestore(plan, config, { actor, signal, onProgress, onWait });
      });
      if (config.databaseUrl === undefined) noteRestored?.(config.dataDir);
      await printResult(console, { ...summary, restored: true, kept }, plan);
    } catch (error) {
      // After ctrl-C, a step may fail with an error of its own. The reason of the signal is reported instead.
      signal.throwIfAborted();
      throw error;
    } finally {
      forget();
      remove();
    }
  },
});

type Origin = Values & { source: BackupLocation; config: Config; folder: string };

async function makePlan(origin: Origin, console: Console, signal: AbortSignal) {
  const { source, config, folder, at: until, "without-signature": isUnchecked } = origin;
  const { fetchBackup } = await import("../../../server/backup/restore/fetch-backup.ts");
  const rebuild = await import("../../../server/replication/rebuild.ts");
  const { planRestore, stopIfAborted } = await import("../../../server/backup/restore/restore.ts");
  return withProgress(console, 100, async (show) => {
    const onStep = (step: FetchStep) => {
      if (step.step === "checking") show(100, "checking");
      else show(percentOf(step.done, step.total), "reading");
    };
    const replica = await rebuild.findReplica(source, config, isUnchecked);
    if (replica === undefined && (until !== undefined || isUnchecked)) {
      throw invalidFlag(until !== undefined ? "--at" : "--without-signature", "works only with a replica");
    }
    const noteRestored = replica && until === undefined ? await rebuild.beginRestore(replica) : undefined;
    const fetched = replica
      ? await rebuild.fetchReplica(replica, { folder, until, onStep, signal })
      : await fetchBackup(source, { config, folder, onStep, signal });
    await stopIfAborted(signal);
    const plan = await planRestore(fetched, config);
    const unchecked =
      `The signatures in ${source.place} were not checked. Anyone who can write there may have changed the data. ` +
      "Check users, roles, keys, webhooks and prices before you start the server.";
    if (isUnchecked) plan.warnings.push(unchecked);
    return { plan, noteRestored };
  });
}

/** Asks before the restore. If a store of the present database is not in the backup, `--yes` is not enough. */
async function confirmRestore(args: Values, console: Console, plan: RestorePlan): Promise<void> {
  for (const warning of plan.warnings) if (!console.json) await warn(console, warning);
  if (!console.quiet && !console.json) await console.writeError(renderComparison(console, plan));
  const { tenants } = plan.fetched.inspection;
  const kept = new Set(tenants.map(({ id }) => id));
  const [lost, ...others] = plan.present?.tenants.filter(({ id }) => !kept.has(id)) ?? [];
  const named = lost ?? (args["without-signature"] ? tenants[0] : undefined);
  if (named === undefined) {
    const question = plan.present === null ? "Restore this backup?" : "Replace the present database with this backup?";
    return confirmAction(console, question);
  }
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  const warning = lost
    ? `The backup does not have store ${nameStore(lost)}${more} of the present database (${lost.id}).`
    : `This restores store ${nameStore(named)} from objects whose signatures were not checked.`;
  await confirmName(console, warning, named.namespace, args.confirm);
}

const percentOf = (done: number, total: number) => (done / Math.max(total, 1)) * 100;

function nameStore({ namespace, title }: { namespace: string; title: string }): string {
  return `${namespace} (${title})`;
}

function renderComparison({ color }: Console, { fetched, present }: RestorePlan): string {
  const { manifest, inspection } = fetched;
  const nameStores = (stores: typeof inspection.tenants = []) =>
    formatValue(stores.slice(0, maxNamed).map(nameStore)) + (stores.length > maxNamed ? ", …" : "");
  const rows = [
    ["created at", formatValue(manifest?.created_at), ""],
    ["schema", formatValue(inspection.schema.at(-1)?.name), ""],
    ["store names", nameStores(inspection.tenants), nameStores(present?.tenants)],
    ...Object.entries(inspection.contents).map(([name, value]) => {
      const label = name === "last_act_at" ? "last audit entry" : name;
      return [label, formatValue(value), formatValue(present?.contents[name as keyof typeof inspection.contents])];
    }),
  ];
  const cell = (index: number) => (row: string[]) => row[index] ?? "";
  const table = ["", "BACKUP", "PRESENT"].map((header, index) => ({ header, value: cell(index) }));
  // Nothing is cut or hidden, even on a narrow terminal, because the user decides after reading this table.
  return layOutTable(rows, table, { width: undefined, color }).text;
}

function summarize(from: string, { fetched, present, key, warnings }: RestorePlan) {
  const { manifest, inspection, missing } = fetched;
  return {
    restored: false,
    backup: {
      from,
      created_at: manifest?.created_at ?? null,
      version: manifest?.version ?? null,
      schema: inspection.schema.at(-1)?.name ?? null,
      ...inspection.contents,
      tenants: inspection.tenants,
    },
    present: present && { ...present.contents, tenants: present.tenants },
    kept: null as string | null,
    key,
    missing_migrations: missing,
    warnings,
  };
}

type Summary = ReturnType<typeof summarize>;

async function printDryRun(console: Console, summary: Summary, plan: RestorePlan): Promise<void> {
  if (console.json) return printRecord(console, summary);
  if (!console.quiet) await console.write(renderComparison(console, plan));
  for (const warning of plan.warnings) await warn(console, warning);
  await info(console, "The backup is intact. Nothing was changed.");
}

async function printResult(console: Console, summary: Summary, { present }: RestorePlan): Promise<void> {
  if (console.json) return printRecord(console, summary);
  const { restored, backup, kept } = summary;
  if (console.quiet && kept === null) return;
  await printRecord(console, { restored, kept }, "kept");
  if (backup.created_at !== null) await info(console, `The database has the state of ${backup.created_at}.`);
  const after =
    "Users who signed in after the backup must sign in again. Keys and tokens revoked after it are valid again.";
  if (present !== null) await info(console, after);
}

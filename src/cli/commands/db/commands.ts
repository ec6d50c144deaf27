import type { rekeyDatabase } from "../../../server/admin/rekey.ts";
import { wrongState } from "../../../server/errors.ts";
import { readCliConfig, requireDatabase, updateSchema, withContext, withDatabase } from "../../context/context.ts";
import { wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, formatValue, info, printJson, printList, printRecord, warn } from "../../terminal/console.ts";
import { withProgress } from "../../terminal/progress.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { depsOf, runAndPrint } from "../doctor/doctor.ts";

export const migrateCommand = defineCommand({
  description: "Update the database schema",
  args: {},
  examples: ["bodega db migrate", "bodega db migrate --data-dir /var/lib/bodega --json"],
  notes: ["bodega serve also does this when it starts."],
  async run(args, console) {
    const { applied } = await withDatabase(args, console, updateSchema);
    if (console.json) return printJson(console, { applied });
    const lines = applied.map((name) => (console.quiet ? name : `applied ${name}`));
    if (applied.length === 0 && !console.quiet) lines.push("The schema is up to date.");
    await console.write(lines.map((line) => `${line}\n`).join(""));
  },
});

export const statusCommand = defineCommand({
  description: "List migrations and whether they are applied",
  args: {},
  examples: ["bodega db status", "bodega db status --json"],
  notes: [
    "The exit code is 0 when the schema is up to date, and 1 when migrations are pending or another build of Bodega made the schema.",
  ],
  async run(args, console) {
    const { migrationStatus } = await import("../../../server/db/migrate.ts");
    requireDatabase(args, console);
    const status = await withDatabase(args, console, (db) => migrationStatus(db));
    const migrations = status.map(({ name, appliedAt, isKnown }) => ({ name, applied_at: appliedAt, known: isKnown }));
    const isPending = migrations.some(({ applied_at }) => applied_at === null);
    const unknown = migrations.find(({ known }) => !known);
    const isUpToDate = !isPending && !unknown;
    if (console.json) await printJson(console, { up_to_date: isUpToDate, migrations });
    else {
      await printList(console, migrations, {
        empty: "No migrations found.",
        columns: [
          { header: "MIGRATION", value: ({ name }) => name },
          { header: "APPLIED", value: ({ applied_at }) => applied_at ?? "pending" },
        ],
      });
      if (unknown) await info(console, `Another build of Bodega applied ${unknown.name}. Run that build.`);
      else if (isPending) await info(console, "Update the schema: bodega db migrate");
    }
    return isUpToDate ? 0 : 1;
  },
});

export const checkCommand = defineCommand({
  description: "Check the whole database for damage, without changing anything",
  args: {},
  examples: ["bodega db check", "bodega db check --data-dir /var/lib/bodega --json"],
  notes: [
    "Checks all pages and rows of the file, the references between rows, the tables, indexes and triggers, and " +
      "the stored totals, balances and counts. The command reads the whole database, which can take minutes. A server may be running.",
    "The exit code is 0 when no error is found, and 1 otherwise. To fix what can be fixed: bodega doctor --fix",
  ],
  async run(args, console) {
    const config = readCliConfig(args, console);
    requireDatabase(args, console);
    const { environmentChecks, runDoctor } = await import("../../../server/health/doctor.ts");
    // The check blocks the process, so a handler of ctrl-C could not run. It writes nothing, so ctrl-C may kill it.
    console.releaseSignals();
    return runAndPrint(console, console.command("doctor --fix"), (running) =>
      runDoctor(config, { skip: environmentChecks, running, deps: depsOf(console) }),
    );
  },
});

/** The test has a lower priority than servers and backups. With the lowest, it might never end on a busy machine. */
const lowPriority = 10;

export const testRestoreCommand = defineCommand({
  description: "Test that the replica or the newest backup can be restored; a server may be running",
  done: "The restored database is intact.",
  args: {
    place: wordArg("Directory, file or s3:// address of a replica or of backups (default: from the settings)", {
      required: false,
      completes: "file",
    }),
  },
  examples: ["bodega db test-restore bodega-data/backups", "bodega db test-restore s3://my-bucket/shop --json"],
  notes: [
    "Restores the newest state to a temporary directory, verifies it as `bodega db restore --dry-run` does, and removes the copy. " +
      "The disk needs space for a copy of the database. The default place is BODEGA_REPLICATE_TO, else BODEGA_BACKUP_TO, " +
      "else backups in the data directory. If the server was started with --replicate-to or --backup-to, pass the same place.",
    "A server does this once a day; `bodega doctor` and the metrics say when it last succeeded, or why it failed.",
  ],
  async run(args, console) {
    const config = readCliConfig(args, console);
    const { backupsFolder, restoreTestPlace } = await import("../../../server/backup/location.ts");
    const { backupDestination } = await import("../../../server/config/config.ts");
    const { testRestore } = await import("../../../server/health/restore-test.ts");
    const given = backupDestination({ value: args.place, source: "<place>" });
    const place = given ?? restoreTestPlace(config) ?? backupsFolder(config.dataDir);
    console.setPriority(lowPriority);
    // If a server started this test, the test ends with the server.
    process.once("disconnect", () => process.exit(1));
    const result = await withProgress(console, undefined, (show) => {
      show(0, "restoring and checking");
      return testRestore(config, place);
    });
    await printRecord(console, result, "place");
  },
});

export const rekeyCommand = defineCommand({
  description: "Start using a new secret key after the old one was lost",
  args: {},
  examples: ["bodega db rekey", "bodega db rekey --yes --json"],
  notes: [
    "Stop all servers of the database first. Queued mail and reset codes are dropped, because only the old key decrypts them. " +
      "The command prints the commands for two-factor sign-in, webhooks and card payments, which do not work until then. " +
      "Browsers and devices must register again for push notifications. Visitors count as new ones and cannot undo earlier " +
      "likes and bookmarks. Passwords, user tokens and app keys do not depend on the key.",
  ],
  async run(args, console) {
    const { isServerRunning } = await import("../../../server/db/local/file-lock.ts");
    const { dataDir } = readCliConfig(args, console);
    if (await isServerRunning(dataDir)) {
      throw wrongState(`A server is running on ${dataDir} with the old key. Stop it first.`);
    }
    await confirmAction(
      console,
      "Replace the secret key? Queued mail, reset codes, second factors, webhook secrets, payment keys and push registrations are lost.",
    );
    const { rekeyDatabase } = await import("../../../server/admin/rekey.ts");
    await printRekeyed(console, await withContext(args, console, rekeyDatabase));
  },
});

async function printRekeyed(console: Console, report: Awaited<ReturnType<typeof rekeyDatabase>>): Promise<void> {
  const { two_factor_users: users, webhooks, payment_accounts: accounts, ...shown } = report;
  if (console.json) return printJson(console, report);
  if (!report.rekeyed) return info(console, "The database already uses this key. Nothing was changed.");
  if (!console.quiet) await printRecord(console, shown, "rekeyed");
  const commands = [
    ...webhooks.map((one) => `webhook rotate -n ${one.namespace} ${one.webhook_id}  # ${formatValue(one.url)}`),
    ...accounts.map((one) => `payment connect ${one.provider} -n ${one.namespace} --key-file <file>  # ${one.account}`),
    ...users.map((one) => `user reset-two-factor -n ${one.namespace} ${one.user_id}  # ${formatValue(one.email)}`),
  ];
  if (commands.length === 0) return;
  await warn(console, "Webhooks, card payments and sign-ins need these commands before they work again:");
  await console.writeError(commands.map((words) => `  bodega ${words}\n`).join(""));
}

import type { BackupStep } from "../../../server/backup/make-backup.ts";
import type { Actor } from "../../../server/context.ts";
import { accountName, readCliConfig, requireDatabase } from "../../context/context.ts";
import { valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { CancelledError, info, invalidFlag, printRecord, warn } from "../../terminal/console.ts";
import { withProgress } from "../../terminal/progress.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { buildInfo } from "../version.ts";

/** Lower than the priority of servers, but not the lowest: a backup must end soon, because the WAL grows meanwhile. */
const lowPriority = 5;

export default defineCommand({
  description: "Back up the database; a server may be running",
  args: {
    to: valueArg("destination", "Directory, .tar.gz file or s3://bucket/prefix (default: <data-dir>/backups)", {
      env: "BODEGA_BACKUP_TO",
      completes: "file",
    }),
    keep: valueArg("number", "Keep this many backups of the database, and remove older ones (default: keep all)", {
      parse: parseCount,
    }),
  },
  examples: ["bodega db backup", "bodega db backup --to s3://my-bucket/shop --keep 30"],
  notes: [
    "A backup is a compressed archive that `tar xzf` opens, with a consistent copy of the database, its checksum and its " +
      "schema. The file gets its final name only after it is verified. Restore it with `bodega db restore`.",
    "The backup does not contain the secret key (secret.key or BODEGA_SECRET). Keep a copy of the key elsewhere: without it, " +
      "second factors, queued mail and webhook secrets in the backup cannot be decrypted.",
    "For S3, set BODEGA_S3_ACCESS_KEY_ID, BODEGA_S3_SECRET_ACCESS_KEY and BODEGA_S3_REGION. If the bucket is not at Amazon, " +
      "also set BODEGA_S3_ENDPOINT. `bodega serve --backup-every 24h` makes backups regularly.",
  ],
  async run(args, console) {
    requireDatabase(args, console);
    const config = readCliConfig(args, console);
    const { parseDestination, backupsFolder, formatLocation } = await import("../../../server/backup/location.ts");
    const location = parseDestination(args.to ?? config.backupTo ?? backupsFolder(config.dataDir), "--to");
    const { keep } = args;
    const isFile = location.name !== undefined;
    if (keep !== undefined && isFile) throw invalidFlag("--keep", "requires a directory or s3://bucket/prefix in --to");
    const path = formatLocation(location);
    const mayReplace = isFile && !path.startsWith("s3:") && (await Bun.file(path).exists());
    if (mayReplace) await confirmAction(console, `Replace the file ${path}?`);
    const { makeBackup } = await import("../../../server/backup/make-backup.ts");
    console.setPriority(lowPriority);
    const actor: Actor = process.connected ? { kind: "server" } : { kind: "terminal", account: accountName() };
    const options = { location, keep, version: buildInfo.version, actor };
    const stop = new AbortController();
    const cancel = () => stop.abort(new CancelledError());
    console.onInterrupt(cancel);
    // If a server started this backup, the backup is cancelled when the server stops.
    process.once("disconnect", cancel);
    const { warnings, ...report } = await withProgress(console, 100, (show) => {
      const onStep = ({ step, done = 0, total = 1 }: BackupStep) => {
        show((done / Math.max(total, 1)) * 100, step === "waiting" ? "waiting for another backup" : step);
        if (step !== "waiting" || console.screen) return;
        void info(console, "Waiting until another backup of this data directory ends.");
      };
      return makeBackup(config, { ...options, onStep, signal: stop.signal });
    });
    for (const warning of warnings) if (!console.json) await warn(console, `The backup is complete, but ${warning}`);
    await printRecord(console, { ...report, ...(console.json && { warnings }) }, "backup");
  },
});

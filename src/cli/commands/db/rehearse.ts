import { setPriority } from "node:os";
import { readCliConfig } from "../../context/read-config.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";
import { withProgress } from "../../terminal/progress.ts";

const lowestPriority = 19;

export default defineCommand({
  description: "Prove that the replica or the newest backup can be restored; a server may be running",
  done: "The restored database is intact.",
  args: {
    place: {
      type: "positional",
      required: false,
      description:
        "Place of a replica, backup, or directory or s3:// address of backups (default: as the settings say)",
      completes: "file",
    },
  },
  examples: ["bodega db rehearse bodega-data/backups", "bodega db rehearse s3://my-bucket/shop --json"],
  notes: [
    "Restores the newest state to a temporary directory, checks it as `bodega db check` does, and removes it. The disk " +
      "needs space for a copy of the database. The default place is BODEGA_REPLICATE_TO, else BODEGA_BACKUP_TO, " +
      "else backups in the data directory. If the server has its place from a flag, name it here.",
    "A server does this once a day; `bodega doctor` and the metrics say when it last succeeded, or why it failed.",
  ],
  async run(args, console) {
    const config = readCliConfig(args, console);
    const { backupsFolder, rehearsedPlace } = await import("../../../server/backup/location.ts");
    const { backupDestination } = await import("../../../server/config/backup-config.ts");
    const { rehearse } = await import("../../../server/health/rehearse.ts");
    const given = backupDestination({ value: args.place, source: "<place>" });
    const place = given ?? rehearsedPlace(config) ?? backupsFolder(config.dataDir);
    setPriority(lowestPriority);
    // The server that started it has ended.
    process.once("disconnect", () => process.exit(1));
    const result = await withProgress(console, undefined, (show) => {
      show(0, "restoring and checking");
      return rehearse(config, place);
    });
    await printRecord(console, result, "place");
  },
});

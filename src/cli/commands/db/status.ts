import { requireDatabase, withDatabase } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { info, printJson, printList } from "../../terminal/output.ts";

export default defineCommand({
  name: "status",
  description: "Show which migrations the database has",
  args: {},
  examples: ["bodega db status", "bodega db status --json"],
  notes: [
    "The exit code is 0 when the schema is up to date, and 1 when migrations wait or it is newer than the program.",
  ],
  async run(args, console) {
    const { migrationStatus } = await import("../../../server/db/migrate.ts");
    await requireDatabase(args, console);
    const status = await withDatabase(args, console, (db) => migrationStatus(db));
    const migrations = status.map(({ name, appliedAt }) => ({ name, applied_at: appliedAt }));
    const waiting = migrations.filter(({ applied_at }) => applied_at === null).length;
    const isNewer = status.some(({ isKnown }) => !isKnown);
    const isUpToDate = waiting === 0 && !isNewer;
    if (console.json) await printJson(console, { up_to_date: isUpToDate, migrations });
    else {
      await printList(console, migrations, {
        id: (migration) => migration.name,
        empty: "There are no migrations.",
        columns: [
          { header: "MIGRATION", value: (migration) => migration.name, whole: true },
          { header: "APPLIED", value: (migration) => migration.applied_at ?? "waiting" },
        ],
      });
      if (isNewer) await info(console, "The schema is newer than this program: run the version that made it.");
      else if (waiting > 0) await info(console, "Bring the schema up to date with: bodega db migrate");
    }
    return isUpToDate ? 0 : 1;
  },
});

import { requireDatabase, withDatabase } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { info, printJson, printList } from "../../terminal/output.ts";

export default defineCommand({
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
    const pending = migrations.filter(({ applied_at }) => applied_at === null).length;
    const unknown = status.find(({ isKnown }) => !isKnown);
    const isUpToDate = pending === 0 && !unknown;
    if (console.json) await printJson(console, { up_to_date: isUpToDate, migrations });
    else {
      await printList(console, migrations, {
        empty: "No migrations found.",
        columns: [
          { header: "MIGRATION", value: (migration) => migration.name },
          { header: "APPLIED", value: (migration) => migration.applied_at ?? "pending" },
        ],
      });
      if (unknown) await info(console, `Another build of Bodega applied ${unknown.name}. Run that build.`);
      else if (pending > 0) await info(console, "Update the schema: bodega db migrate");
    }
    return isUpToDate ? 0 : 1;
  },
});

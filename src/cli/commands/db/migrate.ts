import { makeContext, recordMigration, withDatabase } from "../../context/context.ts";
import { defineVerb } from "../../framework/command.ts";
import { printJson } from "../../terminal/output.ts";

export default defineVerb({
  name: "migrate",
  description: "Bring the database schema up to date",
  args: {},
  examples: ["bodega db migrate", "bodega db migrate --data-dir /var/lib/bodega --json"],
  notes: ["bodega serve does the same when it starts."],
  async run(args, io) {
    const { migrate } = await import("../../../server/db/migrate.ts");
    const { applied } = await withDatabase(args, io, async (db, _place, config) => {
      const done = await migrate(db);
      await recordMigration(await makeContext(db, config), done.applied);
      return done;
    });
    if (io.json) return printJson(io, { applied });
    if (applied.length > 0)
      await io.write(applied.map((name) => (io.quiet ? `${name}\n` : `applied ${name}\n`)).join(""));
    else if (!io.quiet) await io.write("The schema is up to date.\n");
  },
});

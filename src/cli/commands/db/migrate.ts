import { updateSchema, withDatabase } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { printJson } from "../../terminal/output.ts";

export default defineCommand({
  description: "Update the database schema",
  args: {},
  examples: ["bodega db migrate", "bodega db migrate --data-dir /var/lib/bodega --json"],
  notes: ["bodega serve also does this when it starts."],
  async run(args, console) {
    const { applied } = await withDatabase(args, console, updateSchema);
    if (console.json) return printJson(console, { applied });
    if (applied.length > 0)
      await console.write(applied.map((name) => (console.quiet ? `${name}\n` : `applied ${name}\n`)).join(""));
    else if (!console.quiet) await console.write("The schema is up to date.\n");
  },
});

import { readCliConfig } from "../../context/read-config.ts";
import { defineCommand } from "../../framework/command.ts";
import { commandLine } from "../../terminal/command-line.ts";
import { info, printJson } from "../../terminal/output.ts";

export default defineCommand({
  name: "check",
  description: "Look through the whole database for damage, without changing anything",
  args: {},
  examples: ["bodega db check", "bodega db check --data-dir /var/lib/bodega --json"],
  notes: [
    "Looks at the file, every page and row of it, references between rows, the tables, indexes and triggers against those " +
      "that the migrations make, and what is kept beside what it follows from. It reads the whole database, so that a " +
      "large one takes minutes. A server may be running; it goes on as before.",
    "The exit code is 0 when nothing is wrong, and 1 when something is. bodega doctor looks at what is around the " +
      "database as well, and mends what can be mended.",
  ],
  async run(args, console) {
    const config = readCliConfig(args, console);
    const { checkDatabase } = await import("../../../server/health/check-database.ts");
    // Reading holds up the process, which then could not hear of ctrl-C; nothing is left half-done by its end.
    console.releaseSignals();
    const command = commandLine(args);
    const onStep = console.stderrIsTerminal ? (name: string) => info(console, `Checking: ${name}`) : undefined;
    const report = await checkDatabase(config, {
      now: Date.now,
      command,
      ...(onStep && { onStep }),
    });
    if (console.json) await printJson(console, report);
    else {
      const { printExamination } = await import("../doctor/print.ts");
      await printExamination(console, report, command("doctor --fix"));
    }
    return report.ok ? 0 : 1;
  },
});

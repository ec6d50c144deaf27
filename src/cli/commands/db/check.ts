import { readCliConfig } from "../../context/read-config.ts";
import { defineCommand } from "../../framework/command.ts";
import { runAndPrint } from "../doctor/print.ts";

const timeoutMs = 5000;

export default defineCommand({
  description: "Check the whole database for damage, without changing anything",
  args: {},
  examples: ["bodega db check", "bodega db check --data-dir /var/lib/bodega --json"],
  notes: [
    "Checks the file with all of its pages and rows, the references between rows, the tables, indexes and triggers, and " +
      "the stored totals, balances and counts. It reads the whole database, which can take minutes. A server may be running.",
    "The exit code is 0 when no error is found, and 1 otherwise. bodega doctor also checks the environment of the server, " +
      "and fixes what can be fixed.",
  ],
  async run(args, console) {
    const config = readCliConfig(args, console);
    const { runDatabaseCheck } = await import("../../../server/health/doctor.ts");
    // Reading blocks the process, which could not handle ctrl-C. The check writes nothing, so it may be killed at any time.
    console.releaseSignals();
    const { command } = console;
    return runAndPrint(console, { fixCommand: command("doctor --fix") }, (onProgress) =>
      runDatabaseCheck(config, { onProgress, deps: { now: Date.now, command, timeoutMs } }),
    );
  },
});

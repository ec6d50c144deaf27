import { defineCommand } from "../framework/command.ts";
import { buildInfo } from "../terminal/build-info.ts";
import { printRecord } from "../terminal/console.ts";

export default defineCommand({
  description: "Print the version",
  args: {},
  examples: ["bodega version", "bodega version --json"],
  async run(_args, console) {
    if (console.json || console.quiet) return printRecord(console, buildInfo, "version");
    await console.write(`bodega ${buildInfo.version}\n`);
  },
});

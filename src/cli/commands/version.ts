import { defineVerb } from "../framework/command.ts";
import { buildInfo } from "../terminal/build-info.ts";
import { printRecord } from "../terminal/output.ts";

export default defineVerb({
  name: "version",
  description: "Print the version",
  args: {},
  examples: ["bodega version", "bodega version --json"],
  async run(_args, io) {
    if (io.json || io.quiet) return printRecord(io, buildInfo, "version");
    await io.write(`bodega ${buildInfo.version}\n`);
  },
});

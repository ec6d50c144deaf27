import manifest from "../../../package.json" with { type: "json" };
import { defineCommand } from "../framework/command.ts";
import { printRecord } from "../terminal/console.ts";

// The build defines these constants. They do not exist when Bun runs the source.
declare const BODEGA_VERSION: string;
declare const BODEGA_COMMIT: string;

export const buildInfo = {
  version: typeof BODEGA_VERSION === "string" ? BODEGA_VERSION : manifest.version,
  commit: typeof BODEGA_COMMIT === "string" ? BODEGA_COMMIT : "source",
  bun: Bun.version,
  platform: `${process.platform}-${process.arch}`,
};

export default defineCommand({
  description: "Print the version",
  args: {},
  examples: ["bodega version", "bodega version --json"],
  async run(_args, console) {
    if (console.json || console.quiet) return printRecord(console, buildInfo, "version");
    await console.write(`bodega ${buildInfo.version}\n`);
  },
});

import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { isExecutable, ownCommand } from "../../../server/config/own-command.ts";
import { notFound, wrongState } from "../../../server/errors.ts";
import { readCliConfig, requireDatabase } from "../../context/context.ts";
import { valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { info, printRecord, warn } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { buildInfo } from "../version.ts";

export default defineCommand({
  description: "Install another version and restart the server",
  args: {
    file: { type: "positional", required: false, completes: "file", description: "Executable of the new version" },
    back: { type: "boolean", description: "Go back to the version before the last upgrade" },
    unit: valueArg("name", "Name of the systemd unit that runs the server", { default: "bodega.service" }),
    "dry-run": { type: "boolean", description: "Check the file and show the plan; change nothing" },
  },
  oneOf: ["file", "back"],
  examples: ["bodega upgrade ./bodega-0.2.0-linux-x64 --dry-run", "bodega upgrade --back"],
  notes: [
    "The command compares the file with SHA256SUMS beside it, makes a backup, replaces this executable, and has the " +
      "server hand over to it. If the new version does not become ready, the old one is installed and started again.",
    "The previous version is kept beside the executable. If the new one has migrated the database, --back restores the copy " +
      "from before the migration, and keeps the replaced database in backups.",
  ],
  async run(args, console) {
    const config = readCliConfig(args, console);
    requireDatabase(args, console);
    const { file: given, back: isBack, "dry-run": isDryRun } = args;
    if (!isExecutable && !isDryRun) {
      throw wrongState("Bodega runs from source here. Run the installed executable instead: bodega upgrade -h");
    }
    const version = await import("./change-version.ts");
    const installed = ownCommand.at(-1) as string;
    const file = given === undefined ? version.previousOf(installed) : resolve(given);
    if (given !== undefined) version.verifyChecksum(file);
    else if (!existsSync(file))
      throw notFound("earlier version", file, { remedy: "This executable was not upgraded yet." });
    const other = await version.inspectVersion(file, isBack, config);
    const { migrations, restores } = other;
    const unit = await version.requireUnit(config, args.unit);
    const plan = { from: buildInfo.version, to: other.version, executable: installed, migrations, restores, unit };
    if (migrations.length > 0) await info(console, `It migrates the database: ${migrations.join(", ")}.`);
    if (restores !== null && !console.json) {
      await warn(console, `Orders, users and changes since ${statSync(restores).mtime.toISOString()} will be lost.`);
    }
    if (isDryRun) return printRecord(console, { installed: false, ...plan, backup: null, kept: null }, "to");
    const [from, to] = [buildInfo, other].map((one) => `${one.version} (commit ${one.commit})`);
    const restarts = unit === null ? "" : `, and restart ${unit}`;
    await confirmAction(console, `Replace version ${from} in ${installed} with version ${to}${restarts}?`);
    await info(console, "Backing up the database.");
    const { backup } = await version.runProgram<{ backup: string }>(installed, ["db", "backup"], config);
    const release = console.holdSignals();
    const kept = await version.changeVersion(file, plan, config).finally(release);
    await printRecord(console, { installed: true, ...plan, backup, kept }, "to");
    if (unit === null) await info(console, "Start the server: bodega serve");
  },
});

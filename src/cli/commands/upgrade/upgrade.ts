import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { ownCommand } from "../../../server/config/own-command.ts";
import { notFound } from "../../../server/errors.ts";
import { readCliConfig, requireDatabase } from "../../context/context.ts";
import { valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { info, printRecord, warn } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { buildInfo } from "../version.ts";
import * as version from "./change-version.ts";

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
    "The command checks the file against SHA256SUMS beside it, makes a backup, replaces this executable, and restarts the server.",
    "If the new version does not become ready, the previous executable and database are restored. To restore them later, use --back.",
  ],
  async run(args, console) {
    const config = readCliConfig(args, console);
    requireDatabase(args, console);
    const { file: given } = args;
    const installed = ownCommand.at(-1) as string;
    const file = given === undefined ? version.previousOf(installed) : resolve(given);
    const remedy = given === undefined ? "This executable was not upgraded yet." : "Check the path.";
    if (!existsSync(file)) throw notFound("executable", file, { remedy });
    if (given !== undefined) version.verifyChecksum(file);
    const { version: to, commit, migrations, restores } = await version.inspectVersion(file, args.back, config);
    const unit = await version.requireUnit(config, args.unit);
    const plan = { from: buildInfo.version, to, executable: installed, migrations, restores, unit };
    if (migrations.length > 0) await info(console, `Version ${to} migrates the database: ${migrations.join(", ")}.`);
    if (restores !== null) await warn(console, `Changes since ${statSync(restores).mtime.toISOString()} will be lost.`);
    if (args["dry-run"]) return printRecord(console, { installed: false, ...plan, backup: null, kept: null }, "to");
    const present = `version ${buildInfo.version} (commit ${buildInfo.commit})`;
    await confirmAction(console, `Replace ${present} in ${installed} with version ${to} (commit ${commit})?`);
    const { backup } = await version.runProgram<{ backup: string }>(installed, ["db", "backup"], config);
    const release = console.holdSignals();
    const kept = await version.changeVersion(file, plan, config).finally(release);
    await printRecord(console, { installed: true, ...plan, backup, kept }, "to");
  },
});

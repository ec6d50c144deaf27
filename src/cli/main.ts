import { reportError } from "./framework/report-error.ts";
import { runCli } from "./run.ts";
import { openTerminal } from "./terminal/terminal.ts";

const terminal = openTerminal(process);
const end = (code: number) => process.exit(code);
const crash = (error: unknown) => void reportError(error, { terminal, json: false, path: [], values: {} }).then(end);

// The exit code if the process ends before its command does.
process.exitCode = 1;
process.on("uncaughtException", crash);
process.on("unhandledRejection", crash);
void runCli(process.argv.slice(2), terminal).then(end);

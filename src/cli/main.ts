import { reportCrash, runCli } from "./run.ts";
import { openTerminal } from "./terminal/terminal.ts";

const terminal = openTerminal(process);
const end = (code: number) => process.exit(code);

// If the event loop ends before the command has, that is a failure.
process.exitCode = 1;
process.on("uncaughtException", (error) => void reportCrash(error, terminal).then(end));
process.on("unhandledRejection", (error) => void reportCrash(error, terminal).then(end));
void runCli(process.argv.slice(2), terminal).then(end);

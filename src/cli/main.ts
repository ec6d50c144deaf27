#!/usr/bin/env bun
import { runCli } from "./run.ts";
import { openTerminal } from "./terminal.ts";

// An event loop that runs dry before the command has said how it went is a failure.
process.exitCode = 1;
void runCli(process.argv.slice(2), openTerminal(process)).then((code) => process.exit(code));

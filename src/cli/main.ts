#!/usr/bin/env bun
import { runCli } from "./run.ts";
import { openTerminal } from "./terminal.ts";

void runCli(process.argv.slice(2), openTerminal(process)).then((code) => process.exit(code));

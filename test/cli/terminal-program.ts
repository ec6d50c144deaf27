// Runs command lines one after the other at the terminal of this process, which spares the start of a process for each.
import { runCli } from "../../src/cli/run.ts";
import { openTerminal } from "../../src/cli/terminal/terminal.ts";
import type { TerminalCall } from "./shared-terminal.ts";

const terminal = openTerminal(process);
process.on("message", async ({ args, env, end }: TerminalCall) => {
  const code = await runCli(args, { ...terminal, env });
  // In the terminal, since it must not come before the output.
  await terminal.writeError(`${end}${code};`);
});

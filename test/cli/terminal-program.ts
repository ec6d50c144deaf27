// Runs command lines one after another at the terminal of this process, because starting a process for each would be
// slow.
import { runCli } from "../../src/cli/run.ts";
import { openTerminal } from "../../src/cli/terminal/terminal.ts";
import type { TerminalCall } from "./shared-terminal.ts";

const terminal = openTerminal(process);
process.on("message", async ({ args, env, end }: TerminalCall) => {
  const code = await runCli(args, { ...terminal, env });
  // This is written to the terminal, because it must follow the output.
  await terminal.writeError(`${end}${code};`);
});

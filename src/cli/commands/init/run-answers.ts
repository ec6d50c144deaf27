import { existsSync } from "node:fs";
import type { Console } from "../../terminal/console.ts";
import type { RunAnswer } from "./answers.ts";
import type { InitArgs } from "./flags.ts";
import { askChoice, type Choice } from "./questions.ts";

/** Where the data goes that a service of the whole machine serves, unless a folder is named. */
export const systemDataDir = "/var/lib/bodega";

/** How the server is to run from now on. */
export async function takeRun(args: InitArgs, console: Console): Promise<RunAnswer> {
  const given = givenRun(args);
  if (given !== undefined) return given;
  if (!console.canAsk) return "nothing";
  const choices: Choice<RunAnswer>[] = [
    { value: "serve", name: "now, in this terminal" },
    canInstall()
      ? { value: "systemd", name: "as a service of systemd, with the machine" }
      : { value: "unit", name: "with systemd: print the unit" },
    { value: "compose", name: "with Docker: print a compose file" },
    { value: "nothing", name: "not yet" },
  ];
  const isLinux = process.platform === "linux";
  return askChoice(
    "How is it to run?",
    choices.filter(({ value }) => isLinux || (value !== "systemd" && value !== "unit")),
  );
}

/** What the flags say about it. */
export function givenRun(args: InitArgs): RunAnswer | undefined {
  if (args.systemd) return "systemd";
  if (args["print-unit"]) return "unit";
  if (args["print-compose"]) return "compose";
  if (args.serve === undefined) return undefined;
  return args.serve ? "serve" : "nothing";
}

/** Whether this account may have a service of the machine, and systemd runs it. */
export function canInstall(): boolean {
  return process.getuid?.() === 0 && existsSync("/run/systemd/system");
}

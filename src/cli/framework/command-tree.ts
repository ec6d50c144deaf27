import type { CommandDef } from "citty";
import type { Command } from "./command.ts";

export type Load = () => Promise<Command>;

/** A citty command with subcommands: `bodega <command> <subcommand>`. Commands are loaded when they are needed. */
export interface CommandGroup extends CommandDef {
  meta: { description: string };
  subCommands: Record<string, Load | CommandGroup>;
}

/** Every command below a group with its path, such as `["tenant", "create"]`, in the order of the tree. */
export function listCommands({ subCommands }: CommandGroup): [path: string[], load: Load][] {
  return Object.entries(subCommands).flatMap(([name, sub]): [string[], Load][] =>
    typeof sub === "function" ? [[[name], sub]] : listCommands(sub).map(([path, load]) => [[name, ...path], load]),
  );
}

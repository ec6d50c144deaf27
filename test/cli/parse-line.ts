import { parseArgs } from "citty";
import type { CommandArgs, GivenValues } from "../../src/cli/framework/args.ts";
import { toCittyArgs } from "../../src/cli/framework/command.ts";
import { checkArgs } from "../../src/cli/framework/strictness.ts";

/** The values of a command line as the program reads it before it asks for anything. */
export function parseLine(rawArgs: string[], args: CommandArgs): GivenValues {
  const values: GivenValues = parseArgs(rawArgs, toCittyArgs(args));
  checkArgs(rawArgs, args, values);
  return values;
}

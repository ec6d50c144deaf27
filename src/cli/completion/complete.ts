import { existsSync } from "node:fs";
import type { OfferedName } from "../../server/admin/complete-names.ts";
import { databaseFile } from "../../server/config/data-dir.ts";
import { withDatabase } from "../context/context.ts";
import { type DatabaseFlags, readDatabaseFlags } from "../context/read-config.ts";
import { type Arg, type CommandArgs, flagsOf, formatFlag, leadingArgs, positionalsOf } from "../framework/args.ts";
import { type CommandTree, commandsOf, loadCommand, nextWords } from "../framework/command-tree.ts";
import { type Console, createConsole } from "../terminal/console.ts";
import type { Terminal } from "../terminal/terminal.ts";

const timeoutMs = 3000;

type FindByPrefix = (kind: string, prefix: string) => Promise<OfferedName[]>;

/**
 * Prints the candidates for the first of the words, which is being typed, one a line: the value, a tab, a description.
 * The line `:file` or `:directory` asks the shell for its own files. Prints no errors, and creates no database.
 */
export async function printCompletions(tree: CommandTree, [current = "", ...words]: string[], terminal: Terminal) {
  const console = createConsole(terminal, {});
  const { HOME = "~", BODEGA_NAMESPACE } = console.env;
  const print = async () => {
    const line = await readLine(tree, words);
    const { namespace = BODEGA_NAMESPACE, "database-url": url, "data-dir": dir } = line.values;
    // The shell has not expanded anything yet.
    const dataDir = dir?.replace(/^~(?=\/|$)/, () => HOME);
    const find: FindByPrefix = (kind, prefix) =>
      findNames(kind, { namespace, "database-url": url, "data-dir": dataDir }, console, prefix);
    const found = await complete(line, tree, current, find);
    await console.write(found.map(({ value, description }) => `${oneLine(value)}\t${oneLine(description)}\n`).join(""));
  };
  await Promise.race([print().catch(() => {}), Bun.sleep(timeoutMs)]);
}

/** The names of a kind in the database that the flags name; none where there is no database, and none is created. */
export async function findNames(
  kind: string,
  flags: DatabaseFlags & { namespace?: string | undefined },
  console: Console,
  prefix = "",
): Promise<OfferedName[]> {
  const { databaseUrl, dataDir } = readDatabaseFlags(flags, console);
  if (databaseUrl === undefined && !existsSync(databaseFile(dataDir))) return [];
  return withDatabase(flags, console, async (db) => {
    const { completeNames } = await import("../../server/admin/complete-names.ts");
    return completeNames(db, { kind, prefix, namespace: flags.namespace || undefined });
  });
}

interface Line {
  path: string[];
  isHelp: boolean;
  /** Of the command, or of every command while none is known. */
  args: CommandArgs;
  isCommand: boolean;
  given: number;
  values: Record<string, string>;
  open?: [name: string, arg: Arg] | undefined;
}

async function complete(line: Line, tree: CommandTree, current: string, find: FindByPrefix): Promise<OfferedName[]> {
  const [, flag, begun = ""] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  if (flag !== undefined) {
    const values = await offerValues(findValueFlag(line.args, flag)?.[1], begun, find);
    return values.map((one) => (one.value.startsWith(":") ? one : { ...one, value: `${flag}=${one.value}` }));
  }
  if (line.open !== undefined) return offerValues(line.open[1], current, find);
  if (!current.startsWith("-")) {
    if (!line.isCommand) return startingWith(await listWords(tree, line), current);
    const places = positionalsOf(line.args).map(([, arg]) => arg);
    const arg = line.isHelp ? undefined : (places[line.given] ?? places.findLast(({ variadic }) => variadic));
    const offered = await offerValues(arg, current, find);
    if (offered.length > 0) return offered;
  }
  return startingWith(listFlags(line.args), current);
}

async function readLine(tree: CommandTree, words: string[]): Promise<Line> {
  const line: Line = { path: [], isHelp: false, args: leadingArgs, isCommand: false, given: 0, values: {} };
  for (const word of words) {
    const [, joined = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    if (line.open !== undefined) {
      line.values[line.open[0]] = word;
      line.open = undefined;
    } else if (word.startsWith("-")) {
      const flag = findValueFlag(line.args, joined);
      if (value === undefined) line.open = flag;
      else if (flag) line.values[flag[0]] = value;
    } else if (line.isCommand) line.given++;
    else if (word === "help" && line.path.length === 0) line.isHelp = true;
    else {
      line.path.push(word);
      const command = await loadCommand(tree, line.path);
      if (command !== undefined) Object.assign(line, { isCommand: true, args: command.args });
    }
  }
  return line;
}

/** The flag that takes a value: the next word, unless it is joined. */
function findValueFlag(args: CommandArgs, word: string): [string, Arg] | undefined {
  const takes = flagsOf(args).filter(([, arg]) => arg.type !== "boolean");
  return takes.find(([name, arg]) => word === `--${name}` || word === `-${arg.alias}`);
}

async function listWords(tree: CommandTree, { path, isHelp }: Line): Promise<OfferedName[]> {
  const [group, ...given] = path;
  const values = group === undefined ? Object.keys(tree) : nextWords(commandsOf(tree, group) ?? {}, given);
  const words = await Promise.all(
    values.map(async (value) => {
      const entry = group === undefined ? tree[value] : undefined;
      const command = typeof entry === "object" ? undefined : await loadCommand(tree, [...path, value]);
      return { value, description: command?.meta.description ?? (typeof entry === "object" ? entry.description : "") };
    }),
  );
  const help = { value: "help", description: "Show help about a command" };
  return path.length === 0 && !isHelp ? [...words, help] : words;
}

function listFlags(args: CommandArgs): OfferedName[] {
  return flagsOf(args).flatMap(([name, arg]) => {
    const forms = [formatFlag(name, arg)];
    if (arg.negatable) forms.push(`--no-${name}`);
    if (arg.alias !== undefined) forms.push(`-${arg.alias}`);
    return forms.map((value) => ({ value, description: arg.description }));
  });
}

async function offerValues(arg: Arg | undefined, prefix: string, find: FindByPrefix): Promise<OfferedName[]> {
  const { options, completes: kind } = arg ?? {};
  if (options) return options.filter((value) => value.startsWith(prefix)).map((value) => ({ value, description: "" }));
  if (kind === undefined) return [];
  return kind === "file" || kind === "directory" ? [{ value: `:${kind}`, description: "" }] : find(kind, prefix);
}

function startingWith(candidates: OfferedName[], prefix: string): OfferedName[] {
  return candidates.filter(({ value }) => value.startsWith(prefix));
}

function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, " ");
}

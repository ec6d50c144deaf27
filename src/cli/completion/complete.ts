import { existsSync } from "node:fs";
import type { OfferedName } from "../../server/admin/complete-names.ts";
import { databaseFile } from "../../server/config/data-dir.ts";
import { type DatabaseFlags, readDatabaseFlags, withDatabase } from "../context/context.ts";
import { type Arg, type CommandArgs, flagsOf, leadingArgs, positionalsOf } from "../framework/args.ts";
import type { CommandGroup } from "../framework/command.ts";
import { findCommand } from "../framework/find-command.ts";
import { tokenize } from "../framework/read-args.ts";
import { type Console, createConsole } from "../terminal/console.ts";
import type { Terminal } from "../terminal/terminal.ts";

const timeoutMs = 3000;

type FindByPrefix = (kind: string, prefix: string) => Promise<OfferedName[]>;

/**
 * Prints the candidates for the word that is being typed, a line each: the value, a tab, a description. For the line
 * `:file` or `:directory`, the shell offers files instead. Prints no errors, and creates no database.
 */
export async function printCompletions(tree: CommandGroup, [current = "", ...words]: string[], terminal: Terminal) {
  const console = createConsole(terminal, {});
  const { HOME = "~", BODEGA_NAMESPACE } = console.env;
  const print = async () => {
    const line = await readLine(tree, words);
    const { namespace = BODEGA_NAMESPACE, "database-url": url, "data-dir": dir } = line.values;
    // While a word is typed, the shell has not expanded its `~` yet, so it is expanded here.
    const dataDir = dir?.replace(/^~(?=\/|$)/, () => HOME);
    const find: FindByPrefix = (kind, prefix) =>
      findNames(kind, { namespace, "database-url": url, "data-dir": dataDir }, console, prefix);
    const found = await complete(line, current, find);
    const oneLine = (text: string) => text.replaceAll(/\p{Cc}+/gu, " ");
    await console.write(found.map(({ value, description }) => `${oneLine(value)}\t${oneLine(description)}\n`).join(""));
  };
  await Promise.race([print().catch(() => {}), Bun.sleep(timeoutMs)]);
}

/** Returns the names of records of a kind, such as `order`. Returns none if the flags name no existing database. */
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

type Line = Awaited<ReturnType<typeof readLine>>;

/** Reads a command line up to the word that is being typed. `open` is the flag that has this word as its value. */
async function readLine(tree: CommandGroup, typed: string[]) {
  const { path, target, rest, isHelp } = findCommand(tree, typed);
  const args: CommandArgs = typeof target === "function" ? (await target()).args : leadingArgs;
  const tokens = tokenize(rest, args);
  const given = tokens.filter(({ kind }) => kind === "positional").length;
  const values: Record<string, string> = {};
  for (const token of tokens) {
    if (token.kind === "option" && token.value !== undefined) values[token.flag ?? ""] = token.value;
  }
  const last = tokens.at(-1);
  const open = last?.kind === "option" && last.value === undefined ? args[last.flag ?? ""] : undefined;
  return { path, target, isHelp, args, given, values, open };
}

async function complete(line: Line, current: string, find: FindByPrefix): Promise<OfferedName[]> {
  const { args, open, given, target } = line;
  const startsLike = ({ value }: OfferedName) => value.startsWith(current);
  const [, flag, begun = ""] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  if (flag !== undefined) {
    const values = await offerValues(args[flag.slice(2)], begun, find);
    return values.map((one) => (one.value.startsWith(":") ? one : { ...one, value: `${flag}=${one.value}` }));
  }
  if (open && open.type !== "boolean") return offerValues(open, current, find);
  if (!current.startsWith("-")) {
    if (typeof target !== "function") return (await listWords(target, line)).filter(startsLike);
    const places = positionalsOf(args).map(([, arg]) => arg);
    const arg = line.isHelp ? undefined : (places[given] ?? places.findLast(({ multiple }) => multiple));
    const offered = await offerValues(arg, current, find);
    if (offered.length > 0) return offered;
  }
  const flags = flagsOf(args).flatMap(([name, arg]) => {
    const forms = [`--${name}`, ...(arg.alias ? [`-${arg.alias}`] : [])];
    return forms.map((value) => ({ value, description: arg.description }));
  });
  return flags.filter(startsLike);
}

async function listWords({ subCommands }: CommandGroup, { path, isHelp }: Line): Promise<OfferedName[]> {
  const words = Object.entries(subCommands).map(async ([value, sub]) => {
    const { meta } = typeof sub === "function" ? await sub() : sub;
    return { value, description: meta.description };
  });
  const help = { value: "help", description: "Show help about a command" };
  return [...(await Promise.all(words)), ...(path.length === 0 && !isHelp ? [help] : [])];
}

async function offerValues(arg: Arg | undefined, prefix: string, find: FindByPrefix): Promise<OfferedName[]> {
  const { options, completes: kind } = arg ?? {};
  if (options) return options.filter((value) => value.startsWith(prefix)).map((value) => ({ value, description: "" }));
  if (kind === undefined) return [];
  return kind === "file" || kind === "directory" ? [{ value: `:${kind}`, description: "" }] : find(kind, prefix);
}

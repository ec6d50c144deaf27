import { type AppError, malformedRequest } from "../../server/errors.ts";
import { formatBytes, formatDuration } from "../../server/values/units.ts";
import { commandLine, splitCommand } from "./command-line.ts";
import type { Terminal } from "./terminal.ts";
import { type Column, colorState, escapeControls, escapeJson, layOutTable, renderFields, wrapWords } from "./text.ts";

/** Thrown when the user answers no or presses ctrl-C. The exit code is 130. */
export class CancelledError extends Error {
  constructor() {
    super("Cancelled.");
  }
}

export function invalidFlag(flag: string, message: string, remedy?: string): AppError {
  return malformedRequest(`${flag} ${message}.`, { remedy, details: [{ field: flag, message }] });
}

export type Console = ReturnType<typeof createConsole>;

/** Returns the terminal with the shared flags applied. NO_COLOR with any value, or TERM=dumb, disables colours. */
export function createConsole(terminal: Terminal, flags: Readonly<Record<string, unknown>>) {
  const { env } = terminal;
  // The prompt library has no option for colours, but it reads NO_COLOR.
  if (flags["no-color"] === true) env.NO_COLOR = "1";
  return {
    ...terminal,
    json: flags.json === true,
    quiet: flags.quiet === true,
    color: terminal.stdoutIsTerminal && !env.NO_COLOR && env.TERM !== "dumb",
    canAsk: terminal.stdinIsTerminal && terminal.stderrIsTerminal && flags["no-input"] !== true,
    assumeYes: flags.yes === true,
    command: commandLine(flags),
    /** The sentence to print before the command's record. It comes from `done` of the command's definition. */
    done: undefined as string | undefined,
  };
}

export interface ListView<Row> {
  /** Fields of the rows, or columns with computed texts. The first column identifies the row, and is never cut. */
  columns: readonly ((keyof Row & string) | Column<Row>)[];
  /** Returns the text that `-q` prints for a row. Default: the first column. */
  id?(row: Row): string;
  empty: string;
  /** The maximum number of rows. If the list has this length, a note says that there may be more rows. */
  limit?: number;
}

export function printJson(console: Console, value: unknown): Promise<void> {
  return console.write(`${escapeJson(JSON.stringify(value, null, console.stdoutIsTerminal ? 2 : undefined))}\n`);
}

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*Z$/;

export async function printList<Row>(console: Console, rows: readonly Row[], view: ListView<NoInfer<Row>>) {
  if (console.json) return printJson(console, rows);
  if (rows.length === 0) return info(console, view.empty);
  const now = Date.now();
  const columns = view.columns.map((given) => {
    const { header, value } = typeof given === "string" ? columnOf<Row>(given) : given;
    return { header, value: (row: Row) => value(row).replace(timestamp, (at) => formatRelativeTime(at, now)) };
  });
  const id = view.id ?? columns[0]?.value ?? String;
  if (console.quiet) return console.write(rows.map((row) => `${escapeControls(id(row))}\n`).join(""));
  const { text, hidden } = layOutTable(rows, columns, { width: console.columns, color: console.color });
  await console.write(text);
  if (hidden.length > 0) await info(console, `Hidden columns: ${hidden.join(", ")}. --json shows all.`);
  if (rows.length === view.limit) {
    await info(console, `The list ends at the limit of ${rows.length} rows. For more, use a higher --limit.`);
  }
}

function columnOf<Row>(field: keyof Row & string): Column<Row> {
  const header = field.replace(/_at$/, "").replaceAll("_", " ").toUpperCase();
  return { header, value: (row) => formatValue(row[field]) };
}

/** Prints one record for people, or with `--json` as JSON. With `-q`, prints only `idField`, or else the first field. */
export async function printRecord(console: Console, record: object, idField?: string): Promise<void> {
  if (console.json) return printJson(console, record);
  const entries = Object.entries(record);
  const id = entries.find(([name]) => name === idField) ?? entries[0];
  if (console.quiet) return console.write(`${formatValue(id?.[1])}\n`);
  if (console.done !== undefined) await info(console, fillIn(console.done, record));
  const now = Date.now();
  const fields = entries.map(([name, value]) => {
    const isSize = typeof value === "number" && name.endsWith("bytes");
    const withAge = (at: string) => `${formatRelativeTime(at, now)} (${at.replace(/\.\d+Z$/, "Z")})`;
    const text = isSize ? formatBytes(value) : formatValue(value).replace(timestamp, withAge);
    const words = (isSize ? name.replace(/bytes$/, "size") : name).replaceAll("_", " ");
    const shown = console.color && /^(?:status|state)$/.test(name) ? colorState(text) : text;
    return [words.charAt(0).toUpperCase() + words.slice(1), shown] as const;
  });
  await console.write(renderFields(fields, { width: console.columns, color: console.color }));
}

/** Replaces `{name}` by that field of a record. `{revoked token}` becomes `1 token` or `2 tokens`, by the field `revoked`. */
function fillIn(sentence: string, record: object): string {
  return sentence.replace(/\{(\w+)( ?)(.*?)\}/g, (_, field, space, noun) => {
    const value: unknown = Object.entries(record).find(([name]) => name === field)?.[1];
    return `${formatValue(value)}${space}${noun}${noun === "" || value === 1 ? "" : "s"}`;
  });
}

export function fitLines({ columns }: Pick<Console, "columns">, text: string): string {
  if (columns === undefined) return text;
  const lines = text.split("\n").flatMap((line) => {
    const inset = line.slice(0, line.length - line.trimStart().length);
    return wrapWords(line.slice(inset.length), columns - inset.length).map((part) => inset + part);
  });
  return lines.join("\n");
}

/** Wraps a text to the terminal. A command at its end is completed, and stays on one line, so that it can be pasted. */
export function fitSentence(
  { columns, command: complete }: Pick<Console, "columns" | "command">,
  text: string,
): string {
  const { prose, command } = splitCommand(text, complete);
  const whole = escapeControls(prose + (command ?? ""));
  if (columns === undefined || Bun.stringWidth(whole) <= columns) return whole;
  if (command === undefined) return fitLines({ columns }, whole);
  const inset = /^ */.exec(prose)?.[0] ?? "";
  const above = fitLines({ columns }, escapeControls(prose).trimEnd());
  return `${above}\n${inset}${escapeControls(command)}`;
}

async function note({ screen, command, writeError }: Console, text: string): Promise<void> {
  await writeError(`${fitSentence({ columns: screen?.columns, command }, text)}\n`);
}

export async function info(console: Console, text: string): Promise<void> {
  if (!console.quiet && !console.json) await note(console, text);
}

export async function warn(console: Console, text: string): Promise<void> {
  await note(console, `warning: ${text}`);
}

/** Formats a value for people: `yes`, `no`, `none`, `-`, or a text with escaped control characters. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(formatValue).join(", ");
  if (typeof value !== "object") return escapeControls(String(value));
  return formatValue(Object.entries(value).map(([name, one]) => `${name} ${formatValue(one)}`));
}

/** Formats a time relative to now, in its largest unit: `3 hours ago`, `in 12 days`, `now`; `never` for null. */
export function formatRelativeTime(at: string | null, now: number): string {
  if (at === null) return "never";
  const ms = Date.parse(at) - now;
  if (Math.abs(ms) < 1000) return "now";
  return ms < 0 ? `${formatDuration(ms)} ago` : `in ${formatDuration(ms)}`;
}

import { AppError, codeOf, type ErrorKind, remedyOf } from "../../server/errors.ts";
import { commandLine, completeCommand, programName } from "../terminal/command-line.ts";
import { escapeJson } from "../terminal/escape.ts";
import { fitSentence, onScreen } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type ArgumentFault, CancelledError, UsageError } from "../terminal/usage-error.ts";
import { type CommandArgs, formatArg } from "./args.ts";
import type { GivenValues } from "./parse-args.ts";

/** A failed command line, as far as it was parsed. */
export interface Failure {
  json: boolean;
  /** Words of the command, as far as they were found. */
  path: readonly string[];
  args: CommandArgs;
  /** The given values, as far as they were parsed. */
  values?: GivenValues;
}

interface Problem {
  exit: number;
  kind: ErrorKind | undefined;
  message: string;
  remedy?: string | undefined;
  details?: (ArgumentFault & { flag?: string | undefined })[] | undefined;
}

const cancelledExitCode = 130;
const maxCharacters = 1000;
// Their remedies speak of parts of an HTTP reply, of waiting, which helps against few of the faults behind unavailable, or of a
// record, though a command's wrongState may be about none and says itself what to do.
const withoutRemedy = new Set<ErrorKind>(["internalError", "unavailable", "validationFailed", "wrongState"]);

/** Prints an error on standard error, as text or as one JSON object. Returns the exit code. */
export async function reportError(error: unknown, terminal: Terminal, failure: Failure): Promise<number> {
  const described = describeProblem(error, failure.args);
  const command = commandLine(failure.values ?? {});
  const problem = { ...described, message: shortenText(described.message) };
  if (failure.json) {
    const complete = (text: string | undefined) => text && completeCommand(text, command);
    const { kind, details } = problem;
    const code = kind && codeOf(kind);
    const body = { code, message: complete(problem.message), remedy: complete(problem.remedy), details };
    await terminal.writeError(`${escapeJson(JSON.stringify({ error: body }))}\n`);
    return problem.exit;
  }
  const fit = (text: string) => fitSentence(onScreen({ screen: terminal.screen, command }), text);
  const lines = [fit(`${problem.exit === cancelledExitCode ? "" : "error: "}${problem.message}`)];
  // The message already names a single field; several are listed.
  if (problem.details && problem.details.length > 1) {
    lines.push(...problem.details.map(({ field, flag, message }) => fit(`  ${flag ?? field} ${message}`)));
  }
  if (problem.remedy !== undefined) lines.push(fit(`  ${problem.remedy}`));
  if (error instanceof UsageError)
    lines.push(`  Help: ${programName()} ${[...(error.path ?? failure.path), "-h"].join(" ")}`);
  await terminal.writeError(`${lines.join("\n")}\n`);
  return problem.exit;
}

/** Typed text in a message can be very long. */
function shortenText(text: string): string {
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters)}…`;
}

function describeProblem(error: unknown, args: CommandArgs): Problem {
  if (error instanceof CancelledError) return { exit: cancelledExitCode, kind: undefined, message: error.message };
  if (error instanceof UsageError) {
    return { exit: 2, kind: "malformedRequest", message: error.message, remedy: error.hint, details: error.details };
  }
  if (error instanceof AppError) return describeAppError(error, args);
  return { exit: 1, kind: "internalError", message: `Internal error: ${findReason(error)}` };
}

function describeAppError(error: AppError, args: CommandArgs): Problem {
  const details = error.details?.map((detail) => ({ ...detail, flag: findArg(detail.field, args) }));
  const only = details?.length === 1 ? details[0] : undefined;
  return {
    exit: error.exit,
    kind: error.kind,
    message: only?.flag === undefined ? error.message : `${only.flag} ${only.message}`,
    remedy: error.remedy ?? (withoutRemedy.has(error.kind) ? undefined : remedyOf(error.kind)),
    details,
  };
}

/** The flag or positional that carries a service's field: `currency_sign` is `--currency-sign`, `origins.1` is `<origin...>`. */
function findArg(field: string, args: CommandArgs): string | undefined {
  const base = (field.split(/[.[]/)[0] ?? field).replaceAll("_", "-");
  const found = Object.entries(args).find(([name, arg]) => (arg.field ?? name).replaceAll("_", "-") === base);
  return found && formatArg(...found);
}

/**
 * One line about an unexpected error, without stack, SQL, or paths inside the executable. Drizzle puts the statement
 * into the message, so the innermost cause is used.
 */
export function findReason(error: unknown): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause;
  if (!(innermost instanceof Error)) return "unknown";
  const code = (innermost as { code?: unknown }).code;
  const name = typeof code === "string" ? code : innermost.name;
  const line = innermost.message.split("\n")[0] ?? "";
  const telling = line !== "" && !/\b(select|insert|update|delete|create|alter|drop|pragma|begin|query)\b/i.test(line);
  if (!telling || /(file:|\/)\S*(\$bunfs|~BUN|node_modules|\.[cm]?[jt]s\b|bodega\b)/.test(line)) return name;
  return line.startsWith(name) ? line : `${name}: ${line}`;
}

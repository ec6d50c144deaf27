import { AppError, codeOf, type ErrorKind, remedyOf, typeOf } from "../../server/errors.ts";
import { commandLine, completeCommand, programName } from "../terminal/command-line.ts";
import { CancelledError, fitSentence } from "../terminal/console.ts";
import { escapeJson } from "../terminal/text.ts";
import { formatArg } from "./args.ts";
import type { Run } from "./command.ts";
import { isGiven } from "./parse-values.ts";

const cancelledExitCode = 130;
const maxCharacters = 1000;
// The usual remedies of these kinds help only clients of the HTTP API.
const apiOnly: ErrorKind[] = ["internalError", "malformedRequest", "unavailable", "validationFailed", "wrongState"];

/** Prints an error on standard error, with `--json` as JSON. Returns the exit code. */
export async function reportError(error: unknown, run: Run): Promise<number> {
  const { terminal } = run;
  const { exit, kind, message: whole, remedy, details } = await describeProblem(error, run);
  // The message may repeat a long typed text.
  const message = whole.length <= maxCharacters ? whole : `${whole.slice(0, maxCharacters)}…`;
  const command = commandLine(run.values);
  if (run.json) {
    const complete = (text: string | undefined) => text && completeCommand(text, command);
    const named = kind && { code: codeOf(kind), type: typeOf(kind) };
    const body = { ...named, message: complete(message), remedy: complete(remedy), details };
    await terminal.writeError(`${escapeJson(JSON.stringify({ error: body }))}\n`);
    return exit;
  }
  const lines = [`${exit === cancelledExitCode ? "" : "error: "}${message}`];
  // The message already contains a single field, so only several fields are listed.
  if (details && details.length > 1) {
    lines.push(...details.map((detail) => `  ${detail.flag ?? detail.field} ${detail.message}`));
  }
  if (remedy !== undefined) lines.push(`  ${remedy}`);
  const fitted = lines.map((line) => fitSentence({ columns: terminal.screen?.columns, command }, line));
  if (kind === "malformedRequest" || details?.some(({ flag, field }) => flag ?? field.startsWith("--"))) {
    fitted.push(`  Help: ${programName()} ${[...run.path, "-h"].join(" ")}`);
  }
  await terminal.writeError(`${fitted.join("\n")}\n`);
  return exit;
}

async function describeProblem(error: unknown, run: Run) {
  if (error instanceof CancelledError) return { exit: cancelledExitCode, message: error.message };
  if (!(error instanceof AppError)) {
    const { describeFault } = await import("../../server/logging/request-log.ts");
    return { exit: 1, kind: "internalError" as const, message: `Internal error: ${describeFault(error)}` };
  }
  const { exit, kind } = error;
  const details = error.details?.map((detail) => ({ ...detail, flag: findArg(detail.field, run) }));
  const only = details?.length === 1 ? details[0] : undefined;
  // --variant sets several fields, so the message also names the field, such as `sku` for `variants.0.sku`.
  const part = only?.field.match(/^variants\.\d+\.(\w+)/)?.[1] ?? "";
  const message = only?.flag === undefined ? error.message : `${`${only.flag} ${part}`.trim()} ${only.message}`;
  const remedy = error.remedy ?? (apiOnly.includes(kind) ? undefined : remedyOf(kind));
  return { exit, kind, message, remedy, details };
}

/**
 * Returns the argument for a field in an error of a service: `--currency-sign` for `currency_sign`, `<origin...>` for
 * `origins.1`. Some arguments set only a part of a field, such as `tracking.url`.
 */
function findArg(field: string, { command, values }: Run): string | undefined {
  const hyphens = (text: string) => text.replaceAll(/[._]/g, "-");
  const base = field.split(/[.[]/)[0] ?? field;
  const args = Object.entries(command?.args ?? {});
  const named = (wanted: string) => args.filter(([name, arg]) => hyphens(arg.field ?? name) === hyphens(wanted));
  const whole = named(field);
  const matching = whole.length > 0 ? whole : named(base);
  const found = matching.find(([name]) => isGiven(values[name])) ?? matching[0];
  return found && formatArg(...found);
}

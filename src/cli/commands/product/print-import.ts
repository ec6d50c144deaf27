import type { ImportResult } from "../../../server/modules/products/transfer/import.ts";
import type { Console } from "../../terminal/console.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { info, printJson, printRecord, warn } from "../../terminal/output.ts";

const interruptedExitCode = 130;

/**
 * Prints what has become of the products of a file: the faults on standard error, the counts on standard output.
 * @returns the exit code: 0, 1 when a line was at fault, 130 when it was interrupted.
 */
export async function printImport(console: Console, result: ImportResult, isDryRun: boolean): Promise<number> {
  const { errors, errors_omitted, stopped, last_line: line, ...counts } = result;
  const code = stopped === "interrupted" ? interruptedExitCode : counts.failed > 0 ? 1 : 0;
  if (console.json) {
    await printJson(console, { ...counts, dry_run: isDryRun, stopped, last_line: line, errors, errors_omitted });
    return code;
  }
  const lines = errors.map(
    ({ line, field, message }) => `line ${line}: ${field === null ? "" : `${field}: `}${message}\n`,
  );
  await console.writeError(lines.map((text) => escapeControls(text.slice(0, -1)).concat("\n")).join(""));
  if (errors_omitted > 0) await console.writeError(`… and ${errors_omitted} more faults\n`);
  if (!console.quiet) await printRecord(console, { ...counts, dry_run: isDryRun }, "created");
  if (stopped !== null) {
    const reason = { error: "Stopped at a fault", interrupted: "Interrupted", failure: "Broken off" }[stopped];
    await warn(
      console,
      `${reason} after line ${line}: what is counted above ${isDryRun ? "was tried" : "is written"}, nothing behind it is.`,
    );
  }
  if (isDryRun) await info(console, "It was a dry run: nothing was written.");
  return code;
}

import { constants, createReadStream } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { ImportResult } from "../../../server/modules/catalogue/transfer/import.ts";
import { withPictures } from "../../context/context.ts";
import { fileFormatArg } from "../../context/list-args.ts";
import type { ArgValues, CommandArgs, SharedValues } from "../../framework/args.ts";
import { choiceArg, requiredNamespaceArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, info, invalidFlag, printRecord, warn } from "../../terminal/console.ts";
import { formatOf } from "../../terminal/export-file.ts";
import { withProgress } from "../../terminal/progress.ts";
import { escapeControls } from "../../terminal/text.ts";

/** Opens a file or pipe that can be read twice. The bytes of a pipe are kept in memory. Errors: malformedRequest. */
async function openSource(path: string, console: Console, signal: AbortSignal) {
  const refuse = (error: NodeJS.ErrnoException): never => {
    const reason = error.code === "ENOENT" ? "does not exist" : `cannot be read (${error.code ?? "unknown"})`;
    throw invalidFlag("<file>", `${reason}: ${path}`);
  };
  const found = path === "-" ? undefined : await stat(path).catch(refuse);
  if (found?.isDirectory()) throw invalidFlag("<file>", `is a directory: ${path}`);
  if (found) await access(path, constants.R_OK).catch(refuse);
  const open = () => createReadStream(path, { signal, highWaterMark: 256 * 1024 });
  if (found?.isFile()) return { size: found.size, read: open };
  const pieces = await Array.fromAsync<Uint8Array>(found ? open() : console.streamInput());
  return { size: undefined, read: () => pieces };
}

const importArgs = {
  file: wordArg("File to import; - for standard input", { fallback: "template", completes: "file" }),
  template: { type: "boolean", description: "Print a CSV file with the usual columns and one example product" },
  namespace: requiredNamespaceArg,
  format: fileFormatArg,
  "dry-run": { type: "boolean", description: "Check the file and save nothing" },
  "on-error": {
    ...choiceArg(["stop", "skip"], "After a product with an error: stop, or skip it"),
    default: "stop",
  },
} as const satisfies CommandArgs;

export const importCommand = defineCommand({
  description: "Import products from a CSV or NDJSON file",
  args: importArgs,
  examples: [
    "bodega product import -n demo products.csv --dry-run",
    "bodega product import -n demo --template > products.csv",
  ],
  notes: [
    "The first of id, SKU, slug and title that a line has selects the product to update. If there is no such product, the " +
      "line creates it. Fields that are not in the file keep their value. " +
      "Variants are added and updated, never deleted. A product is saved completely or not at all.",
    "With --on-error stop, the whole file is checked first, and nothing is saved if a line has an error. The exit code is 1 " +
      "when a line has an error. After ctrl-C it is 130, and the current batch is saved.",
    "The first line of a CSV file has the column names that `bodega product export` writes. Consecutive lines with the same " +
      "id, slug, SKU or title are variants of one product. An empty cell leaves a field as it is; a hyphen (-) clears it.",
    "A stock column sets the stock, even if orders have changed it since the export. To keep the stock, remove this column. " +
      "Pictures are addresses, ids of uploaded pictures, or paths relative to the file, with | between them.",
  ],
  async run(args, console) {
    if (args.template) {
      const { csvTemplate } = await import("../../../server/modules/catalogue/transfer/export.ts");
      return console.write(csvTemplate);
    }
    const { file, format = formatOf(file), "dry-run": isDryRun, "on-error": onError } = args;
    if (format === undefined) throw invalidFlag("--format", `is required for ${file}`, "Use csv or ndjson.");
    const stop = new AbortController();
    const source = await openSource(file, console, stop.signal);
    console.onInterrupt(() => stop.abort());
    const job = { ...args, format, source, signal: stop.signal };
    const check = { ...job, "on-error": "skip" } as const;
    if (!isDryRun && onError === "stop") {
      const checked = await importFile({ ...check, "dry-run": true }, console);
      const none = { created: 0, updated: 0, unchanged: 0, changes: [] };
      const { failed, stopped } = checked;
      if (failed > 0 || stopped)
        return printImport(console, { ...checked, ...none, stopped: stopped ?? "error" }, args);
    }
    return printImport(console, await importFile(isDryRun ? check : job, console), args);
  },
});

type Job = ArgValues<typeof importArgs> &
  SharedValues & {
    format: "csv" | "ndjson";
    source: Awaited<ReturnType<typeof openSource>>;
    signal: AbortSignal;
  };

async function importFile(args: Job, console: Console): Promise<ImportResult> {
  const { file, format, source, signal } = args;
  const { readCsv } = await import("../../../server/modules/catalogue/transfer/csv-read.ts");
  const { decodeText, readNdjson } = await import("../../../server/modules/catalogue/transfer/import-item.ts");
  const { storePictures } = await import("../../../server/modules/catalogue/products/pictures.ts");
  const { importProducts, ImportFailure } = await import("../../../server/modules/catalogue/transfer/import.ts");
  let read = 0;
  async function* counted() {
    for await (const piece of source.read()) {
      read += piece.length;
      yield piece;
    }
  }
  const text = decodeText(counted());
  const items = format === "csv" ? readCsv(text) : readNdjson(text);
  const isDryRun = args["dry-run"];
  const folder = file === "-" ? "." : dirname(file);
  try {
    return await withProgress(console, source.size, (show) =>
      withPictures(args, console, (ctx) =>
        importProducts(ctx, storePictures(ctx, items, { folder, isDryRun }), {
          onError: args["on-error"],
          isDryRun,
          signal,
          onProgress: ({ created, updated, unchanged, failed }) =>
            show(read, `${created + updated + unchanged + failed} products, ${failed} with errors`),
        }),
      ),
    );
  } catch (error) {
    if (!(error instanceof ImportFailure)) throw error;
    await printImport(console, error.result, args);
    throw error.cause;
  }
}

const stopReasons = { error: "Stopped at an error", interrupted: "Interrupted", failure: "Aborted" } as const;

async function printImport(
  console: Console,
  result: ImportResult,
  { file, "dry-run": isDryRun }: ArgValues<typeof importArgs>,
): Promise<number> {
  const { changes, errors, errors_omitted, stopped, last_line, ...counts } = result;
  const code = stopped === "interrupted" ? 130 : Math.min(counts.failed, 1);
  if (console.json) {
    await printRecord(console, { ...result, dry_run: isDryRun });
    return code;
  }
  const isVerbose = !console.quiet;
  const lines = [...describeRows(result, file, isDryRun && isVerbose)];
  await console.writeError(lines.map((line) => `${escapeControls(line)}\n`).join(""));
  if (isVerbose) await printRecord(console, { ...counts, dry_run: isDryRun });
  if (stopped !== null) {
    const isSaved = counts.created + counts.updated + counts.unchanged > 0;
    const after = `after line ${last_line}. The products counted above are ${isDryRun ? "checked" : "saved"}; later lines are not.`;
    const nothing = `Nothing was saved. ${stopReasons[stopped]}; correct the file and import it again.`;
    await warn(console, isDryRun || isSaved ? `${stopReasons[stopped]} ${after}` : nothing);
  }
  if (isDryRun) await info(console, "Dry run: nothing was saved.");
  return code;
}

function* describeRows({ errors, errors_omitted, changes }: ImportResult, file: string, isDryRun: boolean) {
  const place = file === "-" ? "" : `${file}, `;
  for (const { line, field, message } of errors) yield `${place}line ${line}: ${field ? `${field}: ` : ""}${message}`;
  if (errors_omitted > 0) yield `… and ${errors_omitted} more errors`;
  for (const { line, title, fields } of isDryRun ? changes : []) {
    yield `line ${line}: ${fields ? `updates ${fields.join(", ")} of ${title}` : `creates ${title}`}`;
  }
}

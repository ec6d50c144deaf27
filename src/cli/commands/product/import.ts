import { constants, createReadStream } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { withPictures } from "../../context/context.ts";
import {
  type ArgValues,
  type CommandArgs,
  choiceArg,
  fileFormatArg,
  requiredNamespaceArg,
  type SharedValues,
  wordArg,
} from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { CancelledError, type Console, invalidFlag } from "../../terminal/console.ts";
import { formatOf } from "../../terminal/export-file.ts";
import { withProgress } from "../../terminal/progress.ts";
import { printImport } from "./commands.ts";

/** Opens a file, whose bytes are read anew each time, or a pipe, whose bytes are kept. Errors: UsageError. */
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
  const kept = Array.fromAsync<Uint8Array>(found ? open() : console.streamInput(signal));
  const pieces = await kept.catch((error) => {
    throw signal.aborted ? new CancelledError() : error;
  });
  return { size: undefined, read: () => pieces };
}

const delimiters = { comma: ",", semicolon: ";", tab: "\t" } as const;

const importArgs = {
  file: wordArg("File to import; - for standard input", { fallback: "template", completes: "file" }),
  template: { type: "boolean", description: "Print a CSV file with the usual columns and one example product" },
  namespace: requiredNamespaceArg,
  format: fileFormatArg,
  delimiter: choiceArg(["comma", "semicolon", "tab"], "Delimiter of CSV (default: detected in the first line)"),
  "dry-run": { type: "boolean", description: "Check the file and save nothing" },
  "on-error": choiceArg(["stop", "skip"], "After a product with an error: stop, or skip it", { default: "stop" }),
} as const satisfies CommandArgs;

const importProduct = defineCommand({
  description: "Import products from a CSV or NDJSON file",
  args: importArgs,
  examples: [
    "bodega product import -n demo products.csv --dry-run",
    "bodega product import -n demo --template > products.csv",
  ],
  notes: [
    "A line updates the product with the same id, SKU or slug, in this order; without a slug, the one with the same title. " +
      "Otherwise it creates a product. Fields that are not in the file keep their value. Variants are added and updated, " +
      "never deleted. A product is saved completely or not at all.",
    "With --on-error stop, the whole file is checked first, and nothing is saved if a line has an error. The exit code is 1 " +
      "when a line has an error. After ctrl-C it is 130, and the current batch is saved.",
    "The first line of a CSV file has the column names that `bodega product export` writes. Consecutive lines with the same " +
      "id, slug, SKU or title are variants of one product. An empty cell leaves a field as it is; a hyphen (-) clears it.",
    "A product export of Shopify or WooCommerce is imported as it is: prices, sales, stock, variants, tags, pictures and " +
      "status. Missing categories are created. What is left out is listed, with the reason.",
    "A stock column sets the stock, even if orders have changed it since the export: export other --columns to change these. " +
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
    console.onInterrupt(() => stop.abort());
    const source = await openSource(file, console, stop.signal);
    const job = { ...args, format, source, signal: stop.signal };
    if (isDryRun || onError === "skip") return importFile({ ...job, "on-error": "skip" }, console);
    const code = await importFile({ ...job, "dry-run": true, "on-error": "skip", showsFaultsOnly: true }, console);
    return code === 0 ? importFile(job, console) : code;
  },
});

type Job = ArgValues<typeof importArgs> &
  SharedValues & {
    format: "csv" | "ndjson";
    source: Awaited<ReturnType<typeof openSource>>;
    signal: AbortSignal;
    showsFaultsOnly?: true;
  };

async function importFile(args: Job, console: Console): Promise<number> {
  const { file, format, source, signal } = args;
  const { decodeText } = await import("../../../server/modules/catalogue/transfer/import-item.ts");
  const { readCsv } = await import("../../../server/modules/catalogue/transfer/csv-read.ts");
  const { readNdjson } = await import("../../../server/modules/catalogue/transfer/import-item.ts");
  const { newReport } = await import("../../../server/modules/catalogue/transfer/migration/shop-table.ts");
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
  const report = newReport();
  const delimiter = args.delimiter && delimiters[args.delimiter];
  const items = format === "csv" ? readCsv(text, delimiter, report) : readNdjson(text);
  const isDryRun = args["dry-run"];
  const folder = file === "-" ? "." : dirname(file);
  try {
    const result = await withProgress(console, source.size, (show) =>
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
    const all = { ...result, ...report, file };
    if (!args.showsFaultsOnly) return await printImport(console, all, isDryRun);
    if (result.failed === 0 && result.stopped === null) return 0;
    const none = { created: 0, updated: 0, unchanged: 0, stopped: result.stopped ?? "error" } as const;
    return await printImport(console, { ...all, ...none, changes: [] }, false);
  } catch (error) {
    if (!(error instanceof ImportFailure)) throw error;
    await printImport(console, { ...error.result, ...report, file }, isDryRun);
    throw error.cause;
  }
}

export default { import: importProduct };

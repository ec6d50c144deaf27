import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { formatFlag, formatOf } from "../../terminal/file-format.ts";
import { startProgress } from "../../terminal/progress.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { printImport } from "./print.ts";
import { openSource } from "./product-file.ts";

const delimiters = { comma: ",", semicolon: ";", tab: "\t" } as const;

export default defineCommand({
  name: "import",
  description: "Import products from a CSV or NDJSON file",
  args: {
    file: {
      type: "positional",
      required: true,
      completes: "file",
      description: "File to import; - for standard input",
    },
    namespace: requiredNamespaceArg,
    format: formatFlag,
    delimiter: {
      type: "enum",
      options: ["comma", "semicolon", "tab"],
      description: "Delimiter of a CSV file (default: detected in its first line)",
    },
    "dry-run": { type: "boolean", description: "Check the file and save nothing" },
    "on-error": {
      type: "enum",
      options: ["stop", "skip"],
      default: "stop",
      description: "After a product with an error: stop, or skip it",
    },
  },
  examples: [
    "bodega product import -n demo products.csv --dry-run",
    "bodega product import -n demo products.ndjson --on-error skip --json",
    "bodega product import -n demo - --format csv < products.csv",
  ],
  notes: [
    "A line updates the product with its id, else the one with its SKU, else it creates a product. Fields that are not " +
      "in the file keep their value. Variants are added and updated, never deleted. A product is saved completely or not at all.",
    "With --on-error stop, products before the error are saved and later ones are not. Correct the file and import it " +
      "again. The exit code is 1 when a line has an error. After ctrl-C it is 130, and the current batch is saved.",
    "The first line of a CSV file has column names of `bodega product export`. With semicolons as delimiters, decimals " +
      "may have a comma. Consecutive lines with the same id, slug or SKU are variants of one product.",
    "A dry run checks some hundred products at a time. It does not detect conflicts between lines further apart.",
  ],
  async run(args, console) {
    const format = args.format ?? formatOf(args.file);
    if (format === undefined) {
      throw new UsageError("The file name does not tell the format.", { hint: "Use --format csv or --format ndjson." });
    }
    const stop = new AbortController();
    const source = await openSource(args.file, console, stop.signal);
    const { decodeText } = await import("../../../server/modules/products/transfer/decode-text.ts");
    const { readCsv } = await import("../../../server/modules/products/transfer/csv-read.ts");
    const { readNdjson } = await import("../../../server/modules/products/transfer/ndjson-read.ts");
    const { importProducts, ImportFailure } = await import("../../../server/modules/products/transfer/import.ts");
    const progress = startProgress(console, source.size);
    let read = 0;
    async function* counted() {
      for await (const piece of source.bytes) {
        read += piece.length;
        yield piece;
      }
    }
    const text = decodeText(counted());
    const items = format === "csv" ? readCsv(text, args.delimiter && delimiters[args.delimiter]) : readNdjson(text);
    console.onInterrupt(() => stop.abort());
    const isDryRun = args["dry-run"];
    try {
      const result = await withTenant(args, console, (ctx) =>
        importProducts(ctx, items, {
          onError: args["on-error"],
          isDryRun,
          signal: stop.signal,
          onProgress: ({ created, updated, unchanged, failed }) =>
            progress.show(read, `${created + updated + unchanged + failed} products, ${failed} with errors`),
        }),
      );
      progress.end();
      return await printImport(console, result, isDryRun);
    } catch (error) {
      progress.end();
      if (!(error instanceof ImportFailure)) throw error;
      await printImport(console, error.result, isDryRun);
      throw error.cause;
    } finally {
      await source.close();
    }
  },
});

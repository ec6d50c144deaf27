import { withTenant } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { formatFlag, formatOf } from "../../terminal/file-format.ts";
import { startProgress } from "../../terminal/progress.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { printImport } from "./print-import.ts";
import { openSource } from "./product-file.ts";

const delimiters = { comma: ",", semicolon: ";", tab: "\t" } as const;

export default defineCommand({
  name: "import",
  description: "Create and change products from a CSV or NDJSON file",
  args: {
    file: { type: "positional", required: true, completes: "file", description: "File to read, - for standard input" },
    namespace: { ...namespaceArg, required: true },
    format: formatFlag,
    delimiter: {
      type: "enum",
      options: ["comma", "semicolon", "tab"],
      description: "What stands between the cells of a CSV file (default: found in its first line)",
    },
    "dry-run": { type: "boolean", description: "Do all of it, and undo it again" },
    "on-error": {
      type: "enum",
      options: ["stop", "skip"],
      default: "stop",
      description: "What a product at fault does to those after it",
    },
  },
  examples: [
    "bodega product import -n demo products.csv --dry-run",
    "bodega product import -n demo products.ndjson --on-error skip --json",
    "bodega product import -n demo - --format csv < products.csv",
  ],
  notes: [
    "A line changes the product of its id, else of its SKU, else creates one. What it does not name stays as it is; " +
      "variants are added and changed, never deleted. A product is written whole or not at all.",
    "With --on-error stop, products before the line at fault are written, it and what follows are not; the same file " +
      "mended can be imported again. The exit code is 1 when a line is at fault, 130 after ctrl-C, which ends the import " +
      "once the products in hand are written.",
    "CSV needs a first line with names out of those that `bodega product export` writes. Decimals may have a comma where " +
      "semicolons stand between cells. Lines that follow each other with the same id, slug or SKU are variants of one product.",
    "A dry run undoes some hundred products at a time: lines that clash over a longer distance pass it.",
  ],
  async run(args, console) {
    const format = args.format ?? formatOf(args.file);
    if (format === undefined) {
      throw new UsageError("The name of the file does not tell what it is.", { hint: "Give --format csv or ndjson." });
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
            progress.show(read, `${created + updated + unchanged + failed} products, ${failed} at fault`),
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

import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { outputArg } from "../../terminal/export-file.ts";
import { formatFlag, formatOf } from "../../terminal/file-format.ts";
import { info, printJson } from "../../terminal/output.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { writeExport } from "../../terminal/write-export.ts";
import { productStatusArg } from "./args.ts";

export default defineCommand({
  name: "export",
  description: "Export the products of a store as CSV or NDJSON, oldest first",
  args: {
    namespace: requiredNamespaceArg,
    output: outputArg,
    format: { ...formatFlag, description: "Format of the export (default: from the file name, else csv)" },
    status: productStatusArg,
  },
  examples: [
    "bodega product export -n demo > products.csv",
    "bodega product export -n demo --output products.ndjson --status published",
  ],
  notes: [
    "CSV has one row per product, or one per variant, where the first row also describes the product. Variants at the " +
      "product's price have no price. A leading apostrophe keeps spreadsheets from running a text as a formula. " +
      "NDJSON has one product per line, as the API returns it.",
    "`bodega product import` reads both formats without loss. The file is created when the export is complete; an " +
      "existing file is replaced after a confirmation or with --yes.",
  ],
  async run(args, console) {
    if (console.json && args.output === "-") throw new UsageError("--json requires --output <file>.");
    const { output, status } = args;
    const format = args.format ?? formatOf(output) ?? "csv";
    const { countProducts, csvHeader, exportProducts, writeCsvProduct } = await import(
      "../../../server/modules/products/transfer/export.ts"
    );
    const writeProduct = format === "csv" ? writeCsvProduct : (json: string) => `${json}\n`;
    const { count } = await withTenant(args, console, async (ctx) => {
      const total = console.screen && (await countProducts(ctx, { status }));
      async function* texts() {
        for await (const page of exportProducts(ctx, { status })) {
          yield { text: page.map(writeProduct).join(""), count: page.length };
        }
      }
      const header = format === "csv" ? csvHeader : "";
      return writeExport(console, { output, header, noun: "products", total, pages: texts() });
    });
    if (console.json) await printJson(console, { exported: count, format, output });
    else if (output !== "-") await info(console, `Exported ${count} products to ${output}`);
  },
});

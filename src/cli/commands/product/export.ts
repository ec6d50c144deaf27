import { withTenant } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { openExport, outputArg } from "../../terminal/export-file.ts";
import { formatFlag, formatOf } from "../../terminal/file-format.ts";
import { info, printJson } from "../../terminal/output.ts";
import { startProgress } from "../../terminal/progress.ts";
import { UsageError } from "../../terminal/usage-error.ts";

export default defineCommand({
  name: "export",
  description: "Write a store's products to a file or to standard output, oldest first",
  args: {
    namespace: { ...namespaceArg, required: true },
    output: outputArg,
    format: { ...formatFlag, description: "What to write (default: by the file's name, else csv)" },
    status: {
      type: "enum",
      options: ["draft", "published", "archived"],
      description: "Only products of this status",
    },
  },
  examples: [
    "bodega product export -n demo > products.csv",
    "bodega product export -n demo --output products.ndjson --status published",
  ],
  notes: [
    "CSV has a line for each product, or one for each of its variants, of which the first tells of the product; " +
      "variants that have the product's price leave theirs empty. An apostrophe stands before what a spreadsheet would " +
      "take for a formula. NDJSON has a product on each line, as the API shows it.",
    "`bodega product import` reads both back, to the letter. A file takes its place once it is whole; one that is there " +
      "already is asked about, or replaced with --yes.",
  ],
  async run(args, console) {
    if (console.json && args.output === "-") {
      throw new UsageError("--json would stand among the products.", { hint: "Give --output <file> as well." });
    }
    const format = args.format ?? formatOf(args.output) ?? "csv";
    const { countProducts, csvHeader, exportProducts, writeCsvProduct } = await import(
      "../../../server/modules/products/transfer/export.ts"
    );
    const count = await withTenant(args, console, async (ctx) => {
      const filter = { status: args.status };
      const target = await openExport(console, args.output);
      const progress = startProgress(console, console.screen && (await countProducts(ctx, filter)));
      let count = 0;
      try {
        if (format === "csv") await target.write(csvHeader);
        for await (const page of exportProducts(ctx, filter)) {
          const lines = format === "csv" ? page.map(writeCsvProduct) : page.map((json) => `${json}\n`);
          await target.write(lines.join(""));
          count += page.length;
          progress.show(count, `${count} products`);
          if (target.isAbandoned()) break;
        }
        await target.finish();
      } catch (error) {
        await target.discard();
        throw error;
      } finally {
        progress.end();
      }
      return count;
    });
    if (console.json) await printJson(console, { exported: count, format, output: args.output });
    else if (args.output !== "-") await info(console, `${count} products are in ${args.output}`);
  },
});

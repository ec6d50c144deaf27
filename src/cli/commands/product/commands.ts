import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Ctx } from "../../../server/context.ts";
import type { ProductDocument } from "../../../server/modules/products/list/list.ts";
import type { StockItem } from "../../../server/modules/products/stock.ts";
import { recordArg, withPictures, withTenant } from "../../context/context.ts";
import { choiceArg, exportArgs, fileFormatArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { collectPages, limitArg, noteLimit, requiredNamespaceArg, sinceArg } from "../../framework/list-args.ts";
import type { Console } from "../../terminal/console.ts";
import { formatOf, readExportFormat, writeExport } from "../../terminal/export-file.ts";
import { printList } from "../../terminal/output.ts";
import { withProgress } from "../../terminal/progress.ts";
import { invalidFlag } from "../../terminal/usage-error.ts";
import { formatPrice, formatStock, printImport, printProduct, toProductRecord } from "./print.ts";

/** The product or variant with this id, slug or SKU. Errors: notFound, conflict if ambiguous. */
export async function findStockItem(ctx: Ctx, name: string): Promise<StockItem> {
  const { resolveStockItem } = await import("../../../server/modules/products/resolve.ts");
  return resolveStockItem(ctx, name);
}

export const productArgs = {
  product: recordArg("product", "Id, slug or SKU of the product, or SKU of one of its variants", findStockItem),
  namespace: requiredNamespaceArg,
};

const productStatusArg = choiceArg(["draft", "published", "archived"], "Filter by status");

const list = defineCommand({
  description: "List the products of a store, newest first",
  args: {
    namespace: requiredNamespaceArg,
    query: { ...valueArg("text", "Filter by words"), field: "q" },
    status: productStatusArg,
    category: { ...valueArg("category", "Filter by category, by its id or slug"), completes: "category" },
    since: sinceArg,
    sort: choiceArg(
      ["-created_at", "created_at", "-updated_at", "updated_at", "price", "-price", "title", "-title", "popular"],
      "Sort order; a hyphen reverses it, as in --sort=-price",
    ),
    limit: limitArg("100"),
  },
  examples: [
    "bodega product list -n demo",
    "bodega product list -n demo --query lamp --status draft",
    "bodega product list -n demo --sort=-price --limit 10 --json",
  ],
  notes: ["--query matches the beginnings of words in title, description, tags, SKU and variants."],
  async run(args, console) {
    const { query, status, sort, since, limit, category } = args;
    const filter = { q: query, status, sort, category, "created_at[gte]": since };
    const { listProducts } = await import("../../../server/modules/products/list/list.ts");
    const { records, hasMore } = await withTenant(args, console, (ctx) =>
      collectPages<ProductDocument>(limit, (page) => listProducts(ctx, { ...filter, ...page })),
    );
    const isFiltered = [query, status, since, category].some((given) => given !== undefined);
    await printList(console, records.map(toProductRecord), {
      empty: isFiltered
        ? "No products found."
        : `No products found. Import some: bodega product import -n ${args.namespace} <file>`,
      columns: [
        "product_id",
        { header: "TITLE", value: (product) => product.title, priority: 2 },
        "status",
        { header: "PRICE", value: (product) => formatPrice(product.price_minor, product.currency), whole: true },
        { header: "STOCK", value: formatStock, priority: 1 },
        "sku",
        { header: "VARIANTS", value: (product) => String(product.variants.length) },
      ],
    });
    if (hasMore) await noteLimit(console, limit);
  },
});

const show = defineCommand({
  description: "Show a product with its variants",
  args: productArgs,
  examples: [
    "bodega product show -n demo desk-lamp",
    "bodega product show -n demo LAMP-1",
    "bodega product show -n demo prod_01k8z3v5x2f1rt9m6q7wbn4hcd --json",
  ],
  async run(args, console) {
    const { getProduct } = await import("../../../server/modules/products/service.ts");
    const { json } = await withTenant(args, console, async (ctx) =>
      getProduct(ctx, (await findStockItem(ctx, args.product)).productId),
    );
    await printProduct(console, JSON.parse(json) as ProductDocument);
  },
});

/** Opens a file, or standard input for `-`, until `close`. The signal ends reading with an error. */
async function openSource(path: string, console: Console, signal: AbortSignal) {
  if (path === "-") return { bytes: console.streamInput(signal), size: undefined, close: () => {} };
  const refuse = (error: NodeJS.ErrnoException): never => {
    throw invalidFlag("<file>", `cannot be read (${error.code ?? "unknown"}): ${path}`);
  };
  const found = await stat(path).catch(refuse);
  if (found.isDirectory()) throw invalidFlag("<file>", `is a directory: ${path}`);
  // The stream alone owns the descriptor: it may be in the middle of a read when the import stops.
  const bytes = createReadStream(path, { signal, highWaterMark: 256 * 1024 });
  await once(bytes, "open").catch(refuse);
  return { bytes, size: found.isFile() ? found.size : undefined, close: () => void bytes.destroy() };
}

const delimiters = { comma: ",", semicolon: ";", tab: "\t" } as const;

const importProduct = defineCommand({
  description: "Import products from a CSV or NDJSON file",
  args: {
    file: {
      type: "positional",
      required: true,
      completes: "file",
      description: "File to import; - for standard input",
    },
    namespace: requiredNamespaceArg,
    format: fileFormatArg,
    delimiter: choiceArg(["comma", "semicolon", "tab"], "Delimiter of CSV (default: detected in the first line)"),
    "dry-run": { type: "boolean", description: "Check the file and save nothing" },
    "on-error": { ...choiceArg(["stop", "skip"], "After a product with an error: stop, or skip it"), default: "stop" },
  },
  examples: [
    "bodega product import -n demo products.csv --dry-run",
    "bodega product import -n demo products.ndjson --on-error skip --json",
    "bodega product import -n demo products_export.csv --dry-run",
    "bodega product import -n demo - --format csv < products.csv",
  ],
  notes: [
    "A line updates the product with the same id; without an id, that with the same SKU; without both, that with the same slug. " +
      "A line without a slug updates the product with the same title, if its slug is made from that title. Otherwise it creates a product. Fields that are not in the file keep their value. Variants are added and updated, never deleted. A product is saved completely or not at all.",
    "With --on-error stop, products before the error are saved and later ones are not. Correct the file and import it " +
      "again. The exit code is 1 when a line has an error. After ctrl-C it is 130, and the current batch is saved.",
    "The first line of a CSV file has the column names that `bodega product export` writes. With semicolons as delimiters, decimals " +
      "may have a comma. Consecutive lines with the same id, slug, SKU or title are variants of one product. " +
      "The first line has the title and the other fields of the product.",
    "An empty cell leaves a field as it is. A hyphen (-) removes its value: no description, stock not counted, a variant at the product's price.",
    "A product export of Shopify or WooCommerce is recognised by its columns and imported as it is: prices, sales, stock, variants, " +
      "tags, pictures and status. Missing categories are created. The columns and lines that are left out are listed, with the reason.",
    "A stock column sets the stock, even if orders have changed it since the export: export other --columns to change these.",
    "Pictures are addresses, ids of uploaded pictures, or paths of files relative to the imported file, with | between " +
      "them. Files are uploaded. To add a folder of pictures named by SKU: bodega product image import <folder>",
    "A dry run lists the first twenty new products and updates. It does not detect conflicts between lines more than a few hundred products apart.",
  ],
  async run(args, console) {
    const format = args.format ?? formatOf(args.file);
    if (format === undefined) throw invalidFlag("--format", `is required for ${args.file}`, "Use csv or ndjson.");
    const stop = new AbortController();
    const source = await openSource(args.file, console, stop.signal);
    const { decodeText } = await import("../../../server/modules/products/transfer/decode-text.ts");
    const { readCsv } = await import("../../../server/modules/products/transfer/csv-read.ts");
    const { readNdjson } = await import("../../../server/modules/products/transfer/ndjson-read.ts");
    const { newReport } = await import("../../../server/modules/products/transfer/migration/shop-table.ts");
    const { storePictures } = await import("../../../server/modules/products/transfer/store-pictures.ts");
    const { importProducts, ImportFailure } = await import("../../../server/modules/products/transfer/import.ts");
    let read = 0;
    async function* counted() {
      for await (const piece of source.bytes) {
        read += piece.length;
        yield piece;
      }
    }
    const text = decodeText(counted());
    const report = newReport();
    const delimiter = args.delimiter && delimiters[args.delimiter];
    const items = format === "csv" ? readCsv(text, delimiter, report) : readNdjson(text);
    console.onInterrupt(() => stop.abort());
    const isDryRun = args["dry-run"];
    const folder = args.file === "-" ? "." : dirname(args.file);
    try {
      const result = await withProgress(console, source.size, (show) =>
        withPictures(args, console, (ctx) =>
          importProducts(ctx, storePictures(ctx, items, { folder, isDryRun }), {
            onError: args["on-error"],
            isDryRun,
            signal: stop.signal,
            onProgress: ({ created, updated, unchanged, failed }) =>
              show(read, `${created + updated + unchanged + failed} products, ${failed} with errors`),
          }),
        ),
      );
      return await printImport(console, { ...result, ...report }, isDryRun);
    } catch (error) {
      if (!(error instanceof ImportFailure)) throw error;
      await printImport(console, { ...error.result, ...report }, isDryRun);
      throw error.cause;
    } finally {
      source.close();
    }
  },
});

const exportProduct = defineCommand({
  description: "Export the products of a store as CSV or NDJSON, oldest first",
  args: {
    namespace: requiredNamespaceArg,
    ...exportArgs,
    columns: {
      ...valueArg("names", "Columns of a CSV file besides the ids, such as title,price (default: all)"),
      parse: (_flag: string, text: string) => text.split(",").map((name) => name.trim()),
    },
    status: productStatusArg,
  },
  examples: [
    "bodega product export -n demo > products.csv",
    "bodega product export -n demo --output products.ndjson --status published",
    "bodega product export -n demo --output prices.csv --columns title,price,variant_title,variant_price",
  ],
  notes: [
    "CSV has one row per product, or one per variant, where the first row also describes the product. A field without " +
      "a value is a hyphen (-), such as the price of a variant at the product's price. An apostrophe keeps spreadsheets from running a text as a formula. " +
      "NDJSON has one product per line, as the API returns it, but with the slugs of its categories.",
    "`bodega product import` reads both formats without loss. The file is created when the export is complete; an " +
      "existing file is replaced after a confirmation or with --yes.",
  ],
  async run(args, console) {
    const { output, status, columns } = args;
    const format = readExportFormat(console, args);
    if (format !== "csv" && columns) throw invalidFlag("--columns", "is for CSV files");
    const { countProducts, csvFormat, exportProducts } = await import(
      "../../../server/modules/products/transfer/export.ts"
    );
    const lines = format === "csv" ? csvFormat(columns) : { header: "", render: (json: string) => `${json}\n` };
    const render = (page: readonly string[]) => page.map(lines.render).join("");
    await withTenant(args, console, async (ctx) => {
      const total = console.screen && (await countProducts(ctx, { status }));
      const pages = exportProducts(ctx, { status });
      await writeExport(console, { output, format, header: lines.header, noun: "products", total, pages, render });
    });
  },
});

export default { list, show, import: importProduct, export: exportProduct };

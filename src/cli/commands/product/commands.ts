import type { Ctx } from "../../../server/context.ts";
import type { ProductDocument } from "../../../server/modules/catalogue/list/list.ts";
import type { StockItem } from "../../../server/modules/catalogue/products/stock.ts";
import { recordArg, withTenant } from "../../context/context.ts";
import { choiceArg, exportArgs, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { collectPages, limitArg, noteLimit, requiredNamespaceArg, sinceArg } from "../../framework/list-args.ts";
import { prepareExport, writeExport } from "../../terminal/export-file.ts";
import { formatValue, printList } from "../../terminal/output.ts";
import { invalidFlag } from "../../terminal/usage-error.ts";
import { formatPrice, formatStock, printProduct, toProductRecord } from "./print.ts";

/** The product or variant with this id, slug or SKU. Errors: notFound, conflict if ambiguous. */
export async function findStockItem(ctx: Ctx, name: string): Promise<StockItem> {
  const { resolveStockItem } = await import("../../../server/modules/catalogue/products/resolve.ts");
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
    wide: { type: "boolean", description: "List the ids, too" },
  },
  examples: [
    "bodega product list -n demo",
    "bodega product list -n demo --query lamp --status draft",
    "bodega product list -n demo --sort=-price --limit 10 --json",
  ],
  notes: ["--query matches the beginnings of words in title, description, tags, SKU and variants."],
  async run(args, console) {
    const { query, status, sort, since, limit, category, wide } = args;
    const filter = { q: query, status, sort, category, "created_at[gte]": since };
    const { listProducts } = await import("../../../server/modules/catalogue/list/list.ts");
    const { records, hasMore } = await withTenant(args, console, (ctx) =>
      collectPages<ProductDocument>(limit, (page) => listProducts(ctx, { ...filter, ...page })),
    );
    const isFiltered = [query, status, since, category].some((given) => given !== undefined);
    await printList(console, records.map(toProductRecord), {
      empty: isFiltered
        ? "No products found."
        : `No products found. Import some: bodega product import -n ${args.namespace} <file>`,
      id: (product) => product.product_id,
      columns: [
        ...(wide ? (["product_id"] as const) : []),
        { header: "TITLE", value: (product) => product.title, priority: 3, whole: false },
        { header: "SKU", value: (product) => formatValue(product.sku), priority: 2 },
        { header: "PRICE", value: (product) => formatPrice(product.price_minor, product.currency), whole: true },
        { header: "STOCK", value: formatStock, priority: 2 },
        "status",
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
    const { getProduct } = await import("../../../server/modules/catalogue/products/service.ts");
    const { json } = await withTenant(args, console, async (ctx) =>
      getProduct(ctx, (await findStockItem(ctx, args.product)).productId),
    );
    await printProduct(console, JSON.parse(json) as ProductDocument);
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
    const format = await prepareExport(console, args);
    if (format !== "csv" && columns) throw invalidFlag("--columns", "is for CSV files");
    const { countProducts, csvFormat, exportProducts } = await import(
      "../../../server/modules/catalogue/transfer/export.ts"
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

export default { list, show, export: exportProduct };

import type { ProductDocument } from "../../../server/modules/catalogue/list/list.ts";
import { collectPages, recordArgs, withTenant } from "../../context/context.ts";
import { choiceArg, exportArgs, limitArg, requiredNamespaceArg, sinceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { prepareExport, writeExport } from "../../terminal/export-file.ts";
import { printList } from "../../terminal/output.ts";
import { invalidFlag } from "../../terminal/usage-error.ts";
import { formatPrice, formatStock, printProduct, toProductRecord } from "./print.ts";

const names = "Id, slug or SKU of the product, or SKU of one of its variants";
const load = async () => (await import("../../../server/modules/catalogue/products/resolve.ts")).resolveStockItem;
/** The stock item that is found is a product or a variant. */
export const product = recordArgs("product", "product", names, load);

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
    "bodega product list -n demo --query lamp --status draft",
    "bodega product list -n demo --sort=-price --limit 10",
  ],
  notes: ["--query matches the beginnings of words in title, description, tags, SKU and variants."],
  async run(args, console) {
    const { query, status, sort, since, limit, category, wide } = args;
    const filter = { q: query, status, sort, category, "created_at[gte]": since };
    const { listProducts } = await import("../../../server/modules/catalogue/list/list.ts");
    const products = await withTenant(args, console, (ctx) =>
      collectPages<ProductDocument>(limit, (page) => listProducts(ctx, { ...filter, ...page })),
    );
    await printList(console, products.map(toProductRecord), {
      empty: `No products found. Import some: bodega product import -n ${args.namespace} <file>`,
      id: ({ product_id }) => product_id,
      columns: [
        ...(wide ? (["product_id"] as const) : []),
        ...(["title", "sku"] as const),
        { header: "PRICE", value: ({ price_minor, currency }) => formatPrice(price_minor, currency) },
        { header: "STOCK", value: formatStock },
        "status",
        { header: "VARIANTS", value: ({ variants }) => String(variants.length) },
      ],
      limit,
    });
  },
});

const show = defineCommand({
  description: "Show a product with its variants",
  args: product.args,
  examples: ["bodega product show -n demo LAMP-1"],
  async run(args, console) {
    const { getProduct } = await import("../../../server/modules/catalogue/products/service.ts");
    await printProduct(
      console,
      await product.withRecord(args, console, (ctx, item) => getProduct(ctx, item.productId)),
    );
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

import type { ProductDocument } from "../../../server/modules/catalogue/list/list.ts";
import { formatPrice } from "../../../server/modules/tenants/input.ts";
import { collectPages, recordArgs, withTenant } from "../../context/context.ts";
import { exportArgs, limitArg, sinceArg } from "../../context/list-args.ts";
import { defineAct, defineList } from "../../context/store-command.ts";
import type { ArgValues, CommandArgs } from "../../framework/args.ts";
import { choiceArg, requiredNamespaceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parsePair } from "../../framework/parse-values.ts";
import { type Console, invalidFlag, printList, printRecord } from "../../terminal/console.ts";
import { prepareExport, writeExport } from "../../terminal/export-file.ts";

const toProductRecord = ({ id, ...rest }: ProductDocument) => ({ product_id: id, ...rest });

/** Returns the stock for sale: `7`, or `7 of 9` if orders reserve some, or `not counted`. */
function formatStock({ stock, available }: Pick<ProductDocument, "stock" | "available">): string {
  if (stock === null) return "not counted";
  return available === stock ? String(stock) : `${available} of ${stock}`;
}

export async function printProduct(console: Console, { json }: { json: string }): Promise<void> {
  const record = toProductRecord(JSON.parse(json));
  if (console.json || console.quiet) return printRecord(console, record);
  const { variants, currency, price_minor: _minor, price, stock, available, images, translations, ...rest } = record;
  const { compare_at_price, ...fields } = rest;
  const shown = {
    ...fields,
    price: formatPrice(price, currency),
    compare_at_price: compare_at_price === null ? null : formatPrice(compare_at_price, currency),
    stock: formatStock({ stock, available }),
    images: images.map(({ url }) => url),
    translations: Object.keys(translations),
    variants: variants.length,
  };
  await printRecord(console, shown);
  if (variants.length === 0) return;
  await console.write("\n");
  await printList(console, variants, {
    empty: "",
    columns: [
      { header: "VARIANT ID", value: (variant) => variant.id },
      "title",
      { header: "PRICE", value: (variant) => formatPrice(variant.price, variant.currency) },
      { header: "STOCK", value: formatStock },
      "sku",
    ],
  });
}

const names = "Id, slug or SKU of the product, or SKU of one of its variants";
const load = async () => (await import("../../../server/modules/catalogue/products/resolve.ts")).resolveStockItem;
export const product = recordArgs("product", "product", names, load);

const productStatusArg = choiceArg(["draft", "published", "archived"], "Filter by status");

export const listCommand = defineList({
  description: "List the products of a store, newest first",
  args: {
    query: valueArg("text", "Filter by words", { field: "q" }),
    status: productStatusArg,
    category: valueArg("category", "Filter by category, by its id or slug", { completes: "category" }),
    since: sinceArg,
    sort: choiceArg(
      ["-created_at", "created_at", "-updated_at", "updated_at", "price", "-price", "title", "-title", "popular"],
      "Sort order; a hyphen reverses it, as in --sort=-price",
    ),
    limit: limitArg("100"),
  },
  examples: ["bodega product list -n demo --query lamp --sort=-price --limit 10"],
  notes: ["--query matches the beginnings of words in title, description, tags, SKU and variants."],
  async rows(ctx, { query, status, sort, since, limit, category }) {
    const filter = { q: query, status, sort, category, "created_at[gte]": since };
    const { listProducts } = await import("../../../server/modules/catalogue/list/list.ts");
    const products = await collectPages<ProductDocument>(limit, (page) => listProducts(ctx, { ...filter, ...page }));
    return products.map(toProductRecord);
  },
  empty: "No products found. Import some: bodega product import -n {namespace} <file>",
  id: ({ product_id }) => product_id,
  columns: [
    "title",
    "sku",
    { header: "PRICE", value: ({ price, currency }) => formatPrice(price, currency) },
    { header: "STOCK", value: (one) => formatStock(one) },
    "status",
    { header: "VARIANTS", value: ({ variants }) => String(variants.length) },
  ],
});

export const showCommand = defineAct({
  description: "Show a product with its variants",
  args: product.args,
  examples: ["bodega product show -n demo LAMP-1"],
  async act(ctx, args) {
    const { getProduct } = await import("../../../server/modules/catalogue/products/service.ts");
    return getProduct(ctx, (await product.find(ctx, args.product)).productId);
  },
  print: printProduct,
});

export const exportCommand = defineCommand({
  description: "Export the products of a store as CSV or NDJSON, oldest first",
  args: {
    namespace: requiredNamespaceArg,
    ...exportArgs,
    columns: valueArg("names", "Columns of a CSV file besides the ids, such as title,price (default: all)", {
      parse: (_flag: string, text: string) => text.split(",").map((name) => name.trim()),
    }),
    status: productStatusArg,
  },
  examples: ["bodega product export -n demo --output prices.csv --columns title,price,variant_price"],
  notes: [
    "CSV has one row per product. A product with variants has one row per variant; the first row also has the fields of the " +
      "product. A hyphen (-) is a field without a value. NDJSON has one product per line, as the API returns it.",
    "`bodega product import` imports both formats without loss. The file is created when the export is complete.",
  ],
  async run(args, console) {
    const { output, status, columns } = args;
    const format = await prepareExport(console, args);
    if (format !== "csv" && columns) throw invalidFlag("--columns", "is for CSV files");
    const transfer = await import("../../../server/modules/catalogue/transfer/export.ts");
    const { countMatches } = await import("../../../server/modules/catalogue/list/plan.ts");
    const ndjson = { header: "", render: (json: string) => `${json}\n` };
    const lines = format === "csv" ? transfer.csvFormat(columns) : ndjson;
    const render = (page: readonly string[]) => page.map(lines.render).join("");
    await withTenant(args, console, async (ctx) => {
      const total = console.screen && (await countMatches(ctx, status ? { status } : {})).found;
      const pages = transfer.exportProducts(ctx, { status });
      await writeExport(console, { output, format, header: lines.header, noun: "products", total, pages, render });
    });
  },
});

export const translationArgs = {
  "title-in": valueArg("lang=text", "Title in another language, such as de=Tasse; de= removes it", {
    multiple: true,
    field: "translations",
  }),
  "description-in": valueArg("lang=text", "Description in another language; de= removes it", {
    multiple: true,
    field: "translations",
  }),
} as const satisfies CommandArgs;

export function readGiven(args: ArgValues<typeof translationArgs>, fields: object): object {
  const translations: Record<string, { title?: string | null; description?: string | null }> = {};
  for (const field of ["title", "description"] as const) {
    for (const given of args[`${field}-in`]) {
      const [lang, text] = parsePair(`--${field}-in`, given, "a language and a text, such as de=Tasse");
      translations[lang] = { ...translations[lang], [field]: text || null };
    }
  }
  const all = { ...fields, ...(Object.keys(translations).length > 0 && { translations }) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

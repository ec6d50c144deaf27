import type { ProductDocument } from "../../../server/modules/products/list/list.ts";
import { withTenant } from "../../context/context.ts";
import { collectPages } from "../../framework/collect-pages.ts";
import { defineCommand } from "../../framework/command.ts";
import { limitArg, noteLimit, readPastTime, requiredNamespaceArg, sinceArg } from "../../framework/list-args.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { formatValue, printList } from "../../terminal/output.ts";
import { productStatusArg } from "./args.ts";
import { formatPrice, formatStock, toProductRecord } from "./print.ts";

export default defineCommand({
  name: "list",
  description: "List the products of a store, newest first",
  args: {
    namespace: requiredNamespaceArg,
    query: { type: "string", valueHint: "text", field: "q", description: "Filter by words" },
    status: productStatusArg,
    since: sinceArg,
    sort: {
      type: "enum",
      options: ["-created_at", "created_at", "-updated_at", "updated_at", "price", "-price", "title", "-title"],
      description: "Sort order; a hyphen reverses it, as in --sort=-price",
    },
    limit: limitArg("100"),
  },
  examples: [
    "bodega product list -n demo",
    "bodega product list -n demo --query lamp --status draft",
    "bodega product list -n demo --sort=-price --limit 10 --json",
  ],
  notes: ["--query matches the beginnings of words in title, description, tags, SKU and variants."],
  async run(args, console) {
    const limit = parseCount("--limit", args.limit);
    const { query, status, sort } = args;
    const since = readPastTime("--since", args.since, Date.now());
    const filter = {
      ...(query !== undefined && { q: query }),
      ...(status !== undefined && { status }),
      ...(sort !== undefined && { sort }),
      ...(since !== undefined && { "created_at[gte]": since }),
    };
    const { listProducts } = await import("../../../server/modules/products/list/list.ts");
    const { records, hasMore } = await withTenant(args, console, (ctx) =>
      collectPages<ProductDocument>(limit, (page) => listProducts(ctx, { ...filter, ...page })),
    );
    const isFiltered = [query, status, since].some((given) => given !== undefined);
    await printList(console, records.map(toProductRecord), {
      id: (product) => product.product_id,
      empty: isFiltered
        ? "No products found."
        : `No products found. Import some: bodega product import -n ${args.namespace} <file>`,
      columns: [
        { header: "PRODUCT ID", value: (product) => product.product_id, whole: true },
        { header: "TITLE", value: (product) => product.title },
        { header: "STATUS", value: (product) => product.status, state: true },
        { header: "PRICE", value: (product) => formatPrice(product.price_minor, product.currency), whole: true },
        { header: "STOCK", value: (product) => formatStock(product) },
        { header: "SKU", value: (product) => formatValue(product.sku) },
        { header: "VARIANTS", value: (product) => String(product.variants.length) },
      ],
    });
    if (hasMore) await noteLimit(console, limit);
  },
});

import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseCount, parsePastTime } from "../../framework/parse-values.ts";
import { formatValue, info, printList } from "../../terminal/output.ts";
import { formatPrice, formatStock, listProductRecords, productNamespaceArg } from "./args.ts";

export default defineCommand({
  name: "list",
  description: "List the products of a tenant, newest first",
  args: {
    namespace: productNamespaceArg,
    query: { type: "string", valueHint: "text", field: "q", description: "Only those that have all of these words" },
    status: { type: "enum", options: ["draft", "published", "archived"], description: "Only those of this status" },
    since: { type: "string", valueHint: "duration|time", description: "Made not earlier: 7d, or 2030-01-31T12:00:00Z" },
    sort: {
      type: "enum",
      options: ["-created_at", "created_at", "-updated_at", "updated_at", "price", "-price", "title", "-title"],
      description: "In this order; a hyphen turns it round, as in --sort=-price",
    },
    limit: { type: "string", valueHint: "number", default: "100", description: "How many at most" },
  },
  examples: [
    "bodega product list -n demo",
    "bodega product list -n demo --query lamp --status draft",
    "bodega product list -n demo --sort=-price --limit 10 --json",
  ],
  notes: ["A word is found at the beginning of any word of title, description, tags, SKU or variants."],
  async run(args, console) {
    const limit = parseCount("--limit", args.limit);
    const { query, status, since, sort } = args;
    const filter = {
      ...(query !== undefined && { q: query }),
      ...(status !== undefined && { status }),
      ...(sort !== undefined && { sort }),
      ...(since !== undefined && { "created_at[gte]": parsePastTime("--since", since, Date.now()) }),
    };
    const { products, hasMore } = await withTenant(args, console, (ctx) => listProductRecords(ctx, filter, limit));
    await printList(console, products, {
      id: (product) => product.product_id,
      empty:
        Object.keys(filter).length > 0
          ? "There is no such product."
          : `There is no product yet. Bring some in: bodega product import -n ${args.namespace} <file>`,
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
    if (hasMore) await info(console, `There are more than ${limit}: give a greater --limit.`);
  },
});

import { orderColumns } from "../../../server/modules/orders/order-columns.ts";
import type { OrderView } from "../../../server/modules/orders/views.ts";
import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { outputArg } from "../../terminal/export-file.ts";
import { formatFlag, formatOf } from "../../terminal/file-format.ts";
import { info, printJson } from "../../terminal/output.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { writeExport } from "../../terminal/write-export.ts";
import { orderFilterFlags, readOrderFilter, resolveCustomer } from "./args.ts";

const columnNames = Object.keys(orderColumns).join(", ");

export default defineCommand({
  name: "export",
  description: "Export the orders of a store as CSV or NDJSON, oldest first",
  args: {
    namespace: requiredNamespaceArg,
    format: { ...formatFlag, description: "Format of the export (default: from the file name, else csv)" },
    output: outputArg,
    ...orderFilterFlags,
  },
  examples: [
    "bodega order export -n demo --output orders.csv",
    "bodega order export -n demo --format ndjson --since 30d --status paid",
    "bodega order export -n demo --since 2030-01-01 --until 2030-02-01 --output january.csv --yes --json",
  ],
  notes: [
    "The file is created when the export is complete, and only its owner can read it. An existing file is replaced " +
      "after a confirmation or with --yes, and keeps its permissions.",
    `CSV is UTF-8 with one row per order line and the columns: ${columnNames}. Columns without the prefix line_ repeat ` +
      "the order's values in all its rows: to sum orders, count each order_id once.",
    "Amounts have all decimals of their currency and no sign. In CSV, a text that begins with = + - @, a tab or a line " +
      "break gets a leading apostrophe, so that no spreadsheet runs it as a formula.",
    "NDJSON has one order per line, as GET /orders/{id}/ returns it.",
  ],
  async run(args, console) {
    const filter = { ...readOrderFilter(args, Date.now()), sort: "created_at" as const };
    const format = args.format ?? formatOf(args.output) ?? "csv";
    if (console.json && args.output === "-") throw new UsageError("--json requires --output <file>.");
    const { readOrderPages } = await import("../../../server/modules/orders/views.ts");
    const { orderCsvHeader, orderCsvRows } = await import("../../../server/modules/orders/order-csv.ts");
    const writeRows = format === "csv" ? orderCsvRows : writeDocuments;
    const { count, path } = await withTenant(args, console, async (ctx) => {
      const pages = readOrderPages(ctx, { ...filter, ...(await resolveCustomer(ctx, args.customer)) });
      async function* texts() {
        for await (const views of pages) yield { text: writeRows(views), count: views.length };
      }
      const header = format === "csv" ? orderCsvHeader : "";
      // Only the owner can read the file: orders contain names and addresses.
      return writeExport(console, { output: args.output, mode: 0o600, header, noun: "orders", pages: texts() });
    });
    if (console.json) await printJson(console, { exported: count, format, output: path });
    else if (path !== undefined) await info(console, `Exported ${count} orders to ${path}`);
  },
});

function writeDocuments(views: readonly OrderView[]): string {
  return views.map(({ order }) => `${JSON.stringify(order)}\n`).join("");
}

import { orderColumns } from "../../../server/modules/orders/order-csv.ts";
import type { OrderView } from "../../../server/modules/orders/views.ts";
import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { openExport, outputArg } from "../../terminal/export-file.ts";
import { formatFlag, formatOf } from "../../terminal/file-format.ts";
import { info, printJson } from "../../terminal/output.ts";
import { startProgress } from "../../terminal/progress.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { orderFilterFlags, orderNamespaceArg, readOrderFilter, resolveCustomer } from "./args.ts";

const columnNames = Object.keys(orderColumns).join(", ");

export default defineCommand({
  name: "export",
  description: "Write the orders of a tenant as CSV or NDJSON, oldest first",
  args: {
    namespace: orderNamespaceArg,
    format: { ...formatFlag, description: "What to write (default: by the file's name, else csv)" },
    output: outputArg,
    ...orderFilterFlags,
  },
  examples: [
    "bodega order export -n demo --output orders.csv",
    "bodega order export -n demo --format ndjson --since 30d --status paid",
    "bodega order export -n demo --since 2030-01-01 --until 2030-02-01 --output january.csv --yes --json",
  ],
  notes: [
    "A file appears only once it is whole. A new one is readable by its owner alone; one that is there already is asked " +
      "about, or replaced with --yes, and keeps its permissions.",
    `CSV has a row for each line of an order, UTF-8, with the columns: ${columnNames}. What does not begin with line_ ` +
      "is the order's, and the same in all its rows: sum amounts of orders once for each order_id.",
    "Amounts have all decimals of their currency and no sign. A text that begins with = + - @, a tab or a line break " +
      "has an apostrophe before it in CSV, so that no spreadsheet runs it as a formula.",
    "NDJSON has one order a line, as GET /orders/{id}/ answers it.",
  ],
  async run(args, console) {
    const filter = { ...readOrderFilter(args, Date.now()), sort: "created_at" as const };
    const format = args.format ?? formatOf(args.output) ?? "csv";
    if (console.json && args.output === "-") {
      throw new UsageError("--json would stand among the orders.", { hint: "Give --output <file> as well." });
    }
    const { count, path } = await withTenant(args, console, async (ctx) => {
      const { readOrderPages } = await import("../../../server/modules/orders/views.ts");
      const { orderCsvHeader, orderCsvRows } = await import("../../../server/modules/orders/order-csv.ts");
      const wanted = { ...filter, ...(await resolveCustomer(ctx, args.customer)) };
      // Orders hold names and addresses.
      const target = await openExport(console, args.output, { mode: 0o600 });
      const progress = startProgress(target.isOnScreen ? { ...console, screen: undefined } : console, undefined);
      let count = 0;
      try {
        if (format === "csv") await target.write(orderCsvHeader);
        for await (const views of readOrderPages(ctx, wanted)) {
          await target.write(format === "csv" ? orderCsvRows(views) : writeDocuments(views));
          count += views.length;
          progress.show(count, `${count} orders`);
          if (target.isAbandoned()) break;
        }
        await target.finish();
      } catch (error) {
        await target.discard();
        throw error;
      } finally {
        progress.end();
      }
      return { count, path: target.path };
    });
    if (console.json) await printJson(console, { exported: count, format, output: path });
    else if (path !== undefined) await info(console, `${count} orders are in ${path}`);
  },
});

function writeDocuments(views: readonly OrderView[]): string {
  return views.map(({ order }) => `${JSON.stringify(order)}\n`).join("");
}

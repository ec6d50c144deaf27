import { orderColumns } from "../../../server/modules/orders/order-columns.ts";
import { withTenant } from "../../context.ts";
import { escapeJson } from "../../escape.ts";
import { openExportFile } from "../../export-file.ts";
import type { Io } from "../../io.ts";
import { orderFilterFlags, orderNamespaceArg, readOrderFilter } from "../../order.ts";
import { printRecord } from "../../output.ts";
import { UsageError } from "../../usage-error.ts";
import { defineVerb } from "../../verb.ts";

const columnNames = Object.keys(orderColumns).join(", ");

export default defineVerb({
  name: "export",
  description: "Write the orders of a tenant as CSV or NDJSON, oldest first",
  args: {
    namespace: orderNamespaceArg,
    format: { type: "enum", options: ["csv", "ndjson"], default: "csv", description: "Form of the file" },
    output: {
      type: "string",
      alias: "o",
      valueHint: "file",
      default: "-",
      completes: "file",
      description: "File to write; - is standard output",
    },
    ...orderFilterFlags,
  },
  examples: [
    "bodega order export -n demo --output orders.csv",
    "bodega order export -n demo --format ndjson --since 30d --status paid",
    "bodega order export -n demo --since 2030-01-01 --until 2030-02-01 --output january.csv --yes --json",
  ],
  notes: [
    "A file appears only once it is whole, readable by its owner alone; one that is there already is asked about, or " +
      "replaced with --yes.",
    `CSV has a row for each line of an order, UTF-8, with the columns: ${columnNames}. What does not begin with line_ ` +
      "is the order's, and the same in all its rows: sum amounts of orders once for each order_id.",
    "Amounts have all decimals of their currency and no sign. A text that begins with = + - @, a tab or a line break " +
      "has an apostrophe before it in CSV, so that no spreadsheet runs it as a formula.",
    "NDJSON has one order a line, as GET /orders/{id}/ answers it.",
  ],
  async run(args, io) {
    const filter = { ...readOrderFilter(args, Date.now()), sort: "created_at" as const };
    const { format } = args;
    if (io.json && args.output === "-") {
      const message = "needs --output with the name of a file, since the orders themselves go to standard output";
      throw new UsageError(`--json ${message}.`, { details: [{ field: "--json", message }] });
    }
    const file = args.output === "-" ? undefined : await openExportFile(io, args.output);
    const write = file ? file.write : (text: string) => io.write(io.stdoutIsTerminal ? escapeJson(text) : text);
    const progress = showProgress(io, file !== undefined);
    let count = 0;
    try {
      await withTenant(args, io, async (ctx) => {
        const { readOrderPages } = await import("../../../server/modules/orders/order-views.ts");
        const { orderCsvHeader, orderCsvRows } = await import("../../../server/modules/orders/order-csv.ts");
        if (format === "csv") await write(orderCsvHeader);
        for await (const views of readOrderPages(ctx, filter)) {
          const documents = views.map(({ order }) => `${JSON.stringify(order)}\n`);
          await write(format === "csv" ? orderCsvRows(views) : documents.join(""));
          if (file === undefined && !io.hasReader()) break;
          count += views.length;
          await progress.say(`${count} orders`);
        }
      });
      await file?.finish();
    } catch (error) {
      await file?.discard();
      throw error;
    } finally {
      await progress.clear();
    }
    if (file) await printRecord(io, { file: file.path, format, orders: count }, "file");
  },
});

/** A line that tells how far it is, where somebody watches and nothing else is written to the same screen. */
function showProgress(io: Io, isToFile: boolean) {
  const isShown = io.stderrIsTerminal && !io.quiet && !io.json && (isToFile || !io.stdoutIsTerminal);
  const print = async (text: string) => {
    if (isShown) await io.say(`\r\u001b[K${text}`);
  };
  return { say: print, clear: () => print("") };
}

import { stringify } from "csv-stringify/sync";
import { guardFormula } from "../../values/csv-injection.ts";
import { orderColumns } from "./order-columns.ts";
import type { OrderView } from "./views.ts";

export const orderCsvHeader = writeRows([orderColumns.map(([name]) => name)]);

/** The CSV rows of orders, one for each line. */
export function orderCsvRows(views: readonly OrderView[]): string {
  return writeRows(
    views.flatMap((view) =>
      view.order.items.map((line) =>
        orderColumns.map(([, cell]) => {
          const value = cell(view, line);
          return typeof value === "string" ? guardFormula(value) : String(value ?? "");
        }),
      ),
    ),
  );
}

function writeRows(rows: string[][]): string {
  // Some readers end a row at a lone carriage return, so it must be quoted.
  return stringify(rows, { quoted_match: /[\r\n]/ });
}

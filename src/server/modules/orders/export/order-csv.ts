// This file is separate from `order-columns.ts`, so that the help in the terminal does not load the CSV library.
import { guardFormula, writeCsv } from "../../../values/csv-injection.ts";
import type { OrderView } from "../views.ts";
import { orderColumns } from "./order-columns.ts";

export const orderCsvHeader = writeCsv([orderColumns.map(([name]) => name)]);

export function orderCsvRows(views: readonly OrderView[]): string {
  const rows = views.flatMap((view) =>
    view.order.items.map((line) => orderColumns.map(([, cell]) => cell(view, line) ?? "")),
  );
  return writeCsv(rows.map((row) => row.map((cell) => (typeof cell === "string" ? guardFormula(cell) : String(cell)))));
}

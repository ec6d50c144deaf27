// This file is not part of `order-columns.ts`, because the help reads the columns without loading the CSV library.
import { guardFormula, writeCsv } from "../../../values/csv-injection.ts";
import type { OrderDocument } from "../list.ts";
import { orderColumns } from "./order-columns.ts";

export const orderCsvHeader = writeCsv([orderColumns.map(([name]) => name)]);

export function orderCsvRows(orders: readonly OrderDocument[]): string {
  const rows = orders.flatMap((order) =>
    order.items.map((line) => orderColumns.map(([, cell]) => cell(order, line) ?? "")),
  );
  return writeCsv(rows.map((row) => row.map((cell) => (typeof cell === "string" ? guardFormula(cell) : String(cell)))));
}

import { stringify } from "csv-stringify/sync";
import { guardFormula } from "../../values/csv-injection.ts";
import { type Cell, orderColumns } from "./order-columns.ts";
import type { OrderView } from "./order-views.ts";

const cells = Object.values(orderColumns);

/** The first row of the file. */
export const orderCsvHeader = writeRows([Object.keys(orderColumns)]);

/** Rows of orders, one for each line. Amounts have all decimals of their currency; texts are guarded from being run. */
export function orderCsvRows(views: readonly OrderView[]): string {
  return writeRows(
    views.flatMap((view) => view.order.items.map((line) => cells.map((cell) => writeCell(cell(view, line))))),
  );
}

function writeCell(value: ReturnType<Cell>): string {
  return typeof value === "string" ? guardFormula(value) : String(value ?? "");
}

function writeRows(rows: string[][]): string {
  // A carriage return alone would otherwise stand unquoted, and end the row for many readers.
  return stringify(rows, { quoted_match: /[\r\n]/ });
}

import { guardFormula, writeCsv } from "../../values/csv-injection.ts";
import { orderColumns } from "./order-columns.ts";
import type { OrderView } from "./views.ts";

export const orderCsvHeader = writeCsv([orderColumns.map(([name]) => name)]);

export function orderCsvRows(views: readonly OrderView[]): string {
  return writeCsv(
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

import type { ReportQuery } from "../../../server/modules/reports/model.ts";
import type { ReportName, ReportRow } from "../../../server/modules/reports/service.ts";
import { decimalsOf } from "../../../server/values/currency.ts";
import { formatMinor } from "../../../server/values/money.ts";
import { withTenant } from "../../context/context.ts";
import { choiceArg, requiredNamespaceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printJson, printList } from "../../terminal/console.ts";

const times = "2026, 2026-01 or 2026-01-31 in the store's time zone, 30d (ago), or a time";

const args = {
  namespace: requiredNamespaceArg,
  since: valueArg("time", `Begin at ${times}`, { default: "30d" }),
  until: valueArg("time", `End before ${times} (default: now)`),
  csv: { type: "boolean", description: "Print CSV" },
} as const;
const by = { ...choiceArg(["day", "week", "month"], "Length of the periods"), default: "month" } as const;

function defineReport(name: ReportName, description: string, more: Partial<{ by: typeof by }> = {}) {
  return defineCommand({
    description,
    args: { ...args, ...more },
    examples: [`bodega report ${name} -n demo --since 2026-01${more.by ? " --by month" : ""}`],
    notes: [
      "Orders are reported on the day of payment, and refunds on the day of the refund. Amounts include tax unless the column says net.",
    ],
    async run({ csv, ...given }, console) {
      const { readReport, reports } = await import("../../../server/modules/reports/service.ts");
      const { columns, sums } = reports[name];
      const fields = [...columns, ...sums.map((sum) => sum.replace(/_minor$/, ""))];
      const rows = await withTenant(given, console, (ctx) => readReport(ctx, name, given as ReportQuery));
      if (console.json && !csv) return printJson(console, rows);
      const shown = rows.map((row) => Object.fromEntries(fields.map((field) => [field, formatCell(row, field)])));
      if (!csv) return printList<ReportRow>(console, shown, { columns: fields, empty: "No sales found." });
      const { guardFormula, writeCsv } = await import("../../../server/values/csv-injection.ts");
      const cells = shown.map((row) => fields.map((field) => guardFormula(String(row[field] ?? ""))));
      await console.write(writeCsv([fields, ...cells]));
    },
  });
}

/** Formats a cell. An amount always has all decimals of its currency. */
function formatCell(row: ReportRow, field: string): ReportRow[string] {
  const minor = row[`${field}_minor`];
  if (minor === undefined) return row[field] ?? null;
  return formatMinor(Number(minor), decimalsOf(String(row.currency)) ?? 2);
}

export const salesCommand = defineReport("sales", "Add up what was sold, returned, received and refunded", { by });
export const productsCommand = defineReport("products", "List products by what was sold and returned");
export const customersCommand = defineReport("customers", "List customers by what they bought and returned");
export const taxCommand = defineReport("tax", "Add up the tax of what was sold and returned, by country and rate", {
  by,
});

import type { Ctx } from "../../context.ts";
import { invalidField } from "../../errors.ts";
import { locateInTable, readCsvTable } from "../../values/csv-table.ts";
import type { TaxRate } from "./model.ts";
import { replaceTaxRates } from "./service.ts";

/**
 * Replaces all tax rates of the store by those of a file with the columns class, country, region and rate (in percent).
 * @throws validationFailed with line, column and value.
 */
export async function importTaxRates(ctx: Ctx, text: string): Promise<TaxRate[]> {
  const columns = ["class", "country", "region", "rate"];
  const rows = await readCsvTable(text, ["class", "country", "rate"], (name) => columns.includes(name));
  try {
    const rates = rows.map(({ cells, number }, index) => {
      if (cells.region !== undefined) throw invalidField(`rates.${index}.region`, "must be empty");
      const { class: taxClass = "", country = "" } = cells;
      return { class: taxClass, country: country.toUpperCase(), rate: number("rate") ?? Number.NaN };
    });
    return await replaceTaxRates(ctx, rates);
  } catch (error) {
    throw locateInTable(error, rows);
  }
}

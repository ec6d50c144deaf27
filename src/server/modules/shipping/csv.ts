import type { Ctx } from "../../context.ts";
import { locateInTable, readCsvTable } from "../../values/csv-table.ts";
import type { ShippingRateInput } from "./model.ts";
import { replaceShippingRates, type ShippingRateDocument } from "./service.ts";

const bounds = ["free_from", "min_value", "max_value", "min_weight_g", "max_weight_g"] as const;
const columns = ["zone", "countries", "postcodes", "name", "price", ...bounds, "tax_class"];
const nameIn = /^name_([A-Za-z][\w-]*)$/;

/**
 * Replaces all shipping rates of the store by those of a file. Spaces separate countries, and beginnings of postcodes.
 * The column `name_de` has the name in German.
 * @throws validationFailed with line, column and value.
 */
export async function importShippingRates(ctx: Ctx, text: string): Promise<ShippingRateDocument[]> {
  const isKnown = (name: string) => columns.includes(name) || nameIn.test(name);
  const rows = await readCsvTable(text, ["zone", "countries", "name", "price"], isKnown);
  const rates = rows.map(({ cells, number }): ShippingRateInput => {
    const words = (cell: string | undefined) => cell?.split(/ +/) ?? [];
    const names = Object.entries(cells).flatMap(([column, cell]) => {
      const tag = nameIn.exec(column)?.[1];
      return tag === undefined ? [] : [[tag, cell]];
    });
    return {
      ...{ zone: cells.zone ?? "", name: cells.name ?? "", names: Object.fromEntries(names) },
      countries: words(cells.countries).map((code) => code.toUpperCase()),
      postcodes: words(cells.postcodes),
      price: number("price") ?? Number.NaN,
      ...Object.fromEntries(bounds.map((column) => [column, number(column)])),
      tax_class: cells.tax_class ?? null,
    };
  });
  try {
    return await replaceShippingRates(ctx, rates);
  } catch (error) {
    throw locateInTable(error, rows);
  }
}

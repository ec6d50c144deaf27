import type { AppError } from "../../../errors.ts";
import type { ImportItem, RowFault } from "./import-item.ts";

/** What a refusal says of the lines of a product; fields are named as the file names them. */
export function explainFaults(error: AppError, item: ImportItem): RowFault[] {
  if (!error.details || error.details.length === 0) return [{ line: item.line, field: null, message: error.message }];
  return error.details.map(({ field, message }) => {
    const [, index, rest] = /^variants\.(\d+)(?:\.(.+))?$/.exec(field) ?? [];
    const variant = index === undefined ? undefined : item.variants[Number(index)];
    if (!item.isTable) return { line: item.line, field: field === "row" ? null : field, message };
    if (variant) return { line: variant.line, field: rest === undefined ? null : variantColumn(rest), message };
    return { line: item.line, field: field === "row" ? null : columnOf(field), message };
  });
}

/** `images.0.url` is in the column `images`. */
function columnOf(field: string): string {
  return field.split(".")[0] as string;
}

function variantColumn(field: string): string {
  return `variant_${columnOf(field)}`;
}

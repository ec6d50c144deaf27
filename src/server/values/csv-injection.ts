import { stringify } from "csv-stringify/sync";

// Some programs begin a new cell at each semicolon or tab, even inside quotes, so the texts after these are guarded too.
const guarded = /(?<=^|[;\t\r\n])(?='*[=+\-@＝＋－＠])|^(?='*[\t\r\n])/g;
const guards = /(?<=^|[;\t\r\n])'(?='*[=+\-@＝＋－＠])|^'(?='*[\t\r\n])/g;

/**
 * Puts an apostrophe before texts that spreadsheets would run as formulas, because they begin with = + - or @. Adds one
 * to existing apostrophes there, so that `readGuarded` can restore the text.
 */
export function guardFormula(text: string): string {
  return text.replace(guarded, "'");
}

export function readGuarded(cell: string): string {
  return cell.replace(guards, "");
}

/** Returns CSV. Cells with line breaks are quoted, because some programs end a row at a lone carriage return. */
export function writeCsv(rows: string[][], delimiter: "," | ";" = ","): string {
  return stringify(rows, { delimiter, quoted_match: /[\r\n]/ });
}

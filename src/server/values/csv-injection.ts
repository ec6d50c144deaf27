import { stringify } from "csv-stringify/sync";

// Some readers start a new cell at each semicolon or tab, even inside quotes, so the text after these is guarded too.
const guarded = /(?<=^|[;\t\r\n])(?='*[=+\-@＝＋－＠])|^(?='*[\t\r\n])/g;
const guards = /(?<=^|[;\t\r\n])'(?='*[=+\-@＝＋－＠])|^'(?='*[\t\r\n])/g;

/**
 * Puts an apostrophe before texts that spreadsheets would run as formulas: those that begin with = + - or @, also
 * inside a cell. Existing apostrophes are doubled, so that `readGuarded` restores the text.
 */
export function guardFormula(text: string): string {
  return text.replace(guarded, "'");
}

export function readGuarded(cell: string): string {
  return cell.replace(guards, "");
}

/** Some readers end a row at a lone carriage return, so it is quoted. */
export function writeCsv(rows: string[][], delimiter: "," | ";" = ","): string {
  return stringify(rows, { delimiter, quoted_match: /[\r\n]/ });
}

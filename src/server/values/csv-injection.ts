/**
 * A cell that is safe in spreadsheets, which run texts that begin with = + - or @ (also full-width or after tabs and
 * line breaks) as formulas: an apostrophe is put before them. A text with leading apostrophes gets one more, so that
 * `readGuarded` restores it exactly.
 */
export function guardFormula(text: string): string {
  return /^'*[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
}

/** The text of a cell before `guardFormula`. */
export function readGuarded(cell: string): string {
  return /^'+[=+\-@\t\r\n＝＋－＠]/.test(cell) ? cell.slice(1) : cell;
}

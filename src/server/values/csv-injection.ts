/**
 * A cell as spreadsheets may open it. They run what begins with = + - or @ (plain or full-width, after tabs and line
 * breaks too) as a formula: an apostrophe before it makes it a text. One that begins with apostrophes already gets one
 * more, so that `readGuarded` gives back what was written, whatever that is.
 */
export function guardFormula(text: string): string {
  return /^'*[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
}

/** What stood in a cell before `guardFormula`. */
export function readGuarded(cell: string): string {
  return /^'+[=+\-@\t\r\n＝＋－＠]/.test(cell) ? cell.slice(1) : cell;
}

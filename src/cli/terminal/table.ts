import CliTable from "cli-table3";
import { escapeControls } from "./escape.ts";
import { renderFields } from "./fields.ts";

/** A column of a table. */
export interface Column<Row> {
  header: string;
  value(row: Row): string;
  /** Ids and what decides: of no use when cut, so that other columns give way. */
  whole?: boolean;
}

interface TableOptions {
  /** Columns of the terminal; undefined for a file or pipe, where nothing is cut. */
  width: number | undefined;
  color: boolean;
}

const gap = 2;
const narrowest = 8;

const noBorders = Object.fromEntries(
  ["top", "bottom", "left", "right", "mid"]
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat("left-mid", "mid-mid", "right-mid", "middle")
    .map((part) => [part, ""]),
);

/** A table's columns with their cells below the header, escaped. */
interface Cells {
  header: string;
  whole: boolean;
  texts: string[];
}

/**
 * Rows below a line of headers, without borders. Where the terminal is too narrow, times become shorter, then texts are
 * cut, then columns left out, empty ones and those on the right first; where half would be missing, each row becomes a
 * block of lines.
 * @returns also the headers of the columns that were left out.
 */
export function layOutTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width, color }: TableOptions,
): { text: string; leftOut: string[] } {
  const all = columns.map(({ header, whole = false, value }): Cells => {
    return { header, whole, texts: rows.map((row) => escapeControls(value(row))) };
  });
  const shown = width === undefined ? all : fitColumns(all, width);
  if (shown === undefined) {
    const blocks = rows.map((_, row) => all.map(({ header, texts }) => [header, texts[row] ?? ""] as const));
    return { text: blocks.map((fields) => renderFields(fields, { width, color })).join("\n"), leftOut: [] };
  }
  const headers = new Set(shown.map(({ header }) => header));
  const leftOut = all.map(({ header }) => header).filter((header) => !headers.has(header));
  return { text: drawTable(shown, fitWidths(shown, width), color), leftOut };
}

/** The same where nobody is told what was left out. */
export function renderTable<Row>(...args: Parameters<typeof layOutTable<Row>>): string {
  return layOutTable(...args).text;
}

/** Cuts a text to a number of terminal columns, between whole characters, marking the cut with …. */
export function truncateText(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let kept = "";
  let used = 1;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += Bun.stringWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return width < 1 ? "" : `${kept}…`;
}

function drawTable(columns: readonly Cells[], widths: readonly number[], color: boolean): string {
  const table = new CliTable({
    chars: noBorders,
    style: { head: [], border: [], "padding-left": 0, "padding-right": gap },
  });
  const headers = columns.map(({ header }, index) => truncateText(header, widths[index] ?? 0));
  table.push(color ? headers.map((header) => `\u001b[1m${header}\u001b[22m`) : headers);
  const count = columns[0]?.texts.length ?? 0;
  for (let row = 0; row < count; row++) {
    table.push(columns.map(({ texts }, index) => truncateText(texts[row] ?? "", widths[index] ?? 0)));
  }
  const lines = table.toString().split("\n");
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}

/** The columns as they fit: whole, with shorter times, or without some of them; undefined when half would be missing. */
function fitColumns(columns: readonly Cells[], width: number): readonly Cells[] | undefined {
  const minutes = columns.map((column) => shortenTimes(column, "$1Z"));
  const days = minutes.map((column) => (column.whole ? column : shortenTimes(column, "$2")));
  const natural = [columns, minutes, days].find((some) => sum(some.map(widthOf)) + gap * (some.length - 1) <= width);
  if (natural !== undefined) return natural;
  const shown = [...days];
  while (sum(shown.map(leastWidth)) + gap * (shown.length - 1) > width) {
    const empty = shown.findLastIndex(({ whole, texts }) => !whole && texts.every((text) => text === "-"));
    const last = empty === -1 ? shown.findLastIndex(({ whole }) => !whole) : empty;
    if (last === -1 || 2 * (columns.length - shown.length + 1) >= columns.length) return undefined;
    shown.splice(last, 1);
  }
  return shown;
}

/** To the minute, or to the day; texts that are no times stay as they are. */
function shortenTimes(column: Cells, form: string): Cells {
  const time = /^((\d{4}-\d\d-\d\d)T\d\d:\d\d)(:\d\d\.\d{3})?Z$/;
  return { ...column, texts: column.texts.map((text) => text.replace(time, form)) };
}

function widthOf({ header, texts }: Cells): number {
  return Math.max(Bun.stringWidth(header), ...texts.map((text) => Bun.stringWidth(text)));
}

/** Times are not cut: what is left of one would say nothing. */
function leastWidth(column: Cells): number {
  const isTime = column.texts.some((text) => /^\d{4}-\d\d-\d\d/.test(text));
  return column.whole || isTime ? widthOf(column) : Math.min(widthOf(column), narrowest);
}

/** Widths that fit: the widest column that may be cut gives way first. */
function fitWidths(columns: readonly Cells[], width: number | undefined): number[] {
  const widths = columns.map(widthOf);
  if (width === undefined) return widths;
  const least = columns.map(leastWidth);
  const room = width - gap * (columns.length - 1);
  while (sum(widths) > room) {
    const widest = Math.max(...widths.filter((one, index) => one > (least[index] as number)));
    const index = widths.findIndex((one, at) => one === widest && one > (least[at] as number));
    if (index === -1) break;
    widths[index] = widest - 1;
  }
  return widths;
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

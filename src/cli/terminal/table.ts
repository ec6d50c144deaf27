import { escapeControls } from "./escape.ts";
import { renderFields } from "./fields.ts";
import { bold, colorState } from "./style.ts";

/** A column of a table. */
export interface Column<Row> {
  header: string;
  value(row: Row): string;
  /** Ids and states: useless when cut, so other columns are cut or hidden instead. */
  whole?: boolean;
  /** A state, such as `published`: coloured at a terminal, and whole. */
  state?: boolean;
  /** In a narrow terminal the column with the lowest priority is hidden first, of equals the last. Default 0. */
  priority?: number;
}

interface TableOptions {
  /** Columns of the terminal; undefined for a file or pipe, where nothing is cut. */
  width: number | undefined;
  color: boolean;
}

const gap = 2;
const narrowest = 8;

/** A column with the escaped texts of its cells. */
interface Cells {
  header: string;
  whole: boolean;
  state: boolean;
  priority: number;
  texts: string[];
}

/**
 * Rows below a line of headers, without borders. Where the terminal is too narrow, texts are cut, then columns hidden,
 * empty ones first; where half would be hidden, each row becomes a block of lines.
 * @returns also the headers of the hidden columns.
 */
export function layOutTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width, color }: TableOptions,
): { text: string; hidden: string[] } {
  const all = columns.map(({ header, state = false, whole = state, priority = 0, value }): Cells => {
    return { header, whole, state, priority, texts: rows.map((row) => escapeControls(value(row))) };
  });
  const shown = width === undefined ? all : fitColumns(all, width);
  if (shown === undefined) {
    const blocks = rows.map((_, row) => all.map(({ header, texts }) => [header, texts[row] ?? ""] as const));
    return { text: blocks.map((fields) => renderFields(fields, { width, color })).join("\n"), hidden: [] };
  }
  const hidden = all.filter((column) => !shown.includes(column)).map(({ header }) => header);
  return { text: drawTable(shown, fitWidths(shown, width), color), hidden };
}

/** The same without the headers of the hidden columns. */
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
  const drawLine = (cells: string[], paint: (text: string, column: Cells) => string) => {
    const padded = columns.map((column, index) => {
      const room = widths[index] ?? 0;
      const text = truncateText(cells[index] ?? "", room);
      const padding = " ".repeat(index === columns.length - 1 ? 0 : room + gap - Bun.stringWidth(text));
      return (color && text !== "" ? paint(text, column) : text) + padding;
    });
    return `${padded.join("").trimEnd()}\n`;
  };
  const rows = (columns[0]?.texts ?? []).map((_, row) =>
    drawLine(
      columns.map(({ texts }) => texts[row] ?? ""),
      (text, { state }) => (state ? colorState(text) : text),
    ),
  );
  return (
    drawLine(
      columns.map(({ header }) => header),
      bold,
    ) + rows.join("")
  );
}

/** The columns that fit when texts are cut; undefined when half would be hidden. */
function fitColumns(columns: readonly Cells[], width: number): readonly Cells[] | undefined {
  const shown = [...columns];
  const isEmpty = ({ texts }: Cells) => texts.every((text) => text === "-" || text === "");
  while (sum(shown.map(leastWidth)) + gap * (shown.length - 1) > width) {
    const candidates = shown.filter(({ whole }) => !whole);
    const empty = candidates.findLast(isEmpty);
    const lowest = Math.min(...candidates.map(({ priority }) => priority));
    const next = empty ?? candidates.findLast(({ priority }) => priority === lowest);
    if (next === undefined || 2 * (columns.length - shown.length + 1) >= columns.length) return undefined;
    shown.splice(shown.indexOf(next), 1);
  }
  return shown;
}

function widthOf({ header, texts }: Cells): number {
  return Math.max(Bun.stringWidth(header), ...texts.map((text) => Bun.stringWidth(text)));
}

function leastWidth(column: Cells): number {
  return column.whole ? widthOf(column) : Math.min(widthOf(column), narrowest);
}

/** Widths that fit: the widest column that may be cut is cut first. */
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

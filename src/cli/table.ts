import CliTable from "cli-table3";
import { escapeControls } from "./escape.ts";

/** A column of a table. */
export interface Column<Row> {
  header: string;
  value(row: Row): string;
  /** Ids: of no use when cut, so that other columns give way first. */
  whole?: boolean;
}

interface TableOptions {
  /** Columns of the terminal; undefined for a file or pipe, where nothing is cut. */
  width: number | undefined;
  color: boolean;
}

const gap = 2;
const narrowest = 6;

const noBorders = Object.fromEntries(
  ["top", "bottom", "left", "right", "mid"]
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat("left-mid", "mid-mid", "right-mid", "middle")
    .map((part) => [part, ""]),
);

/** Rows below a line of headers, without borders; cells are escaped, and cut with … where the terminal is too narrow. */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], options: TableOptions): string {
  const cells = [
    columns.map((column) => column.header),
    ...rows.map((row) => columns.map((column) => escapeControls(column.value(row)))),
  ];
  const widths = fitWidths(cells, columns, options.width);
  const table = new CliTable({
    chars: noBorders,
    style: { head: [], border: [], "padding-left": 0, "padding-right": gap },
  });
  for (const [index, row] of cells.entries()) {
    const cut = row.map((cell, column) => truncateText(cell, widths[column] ?? 0));
    table.push(index === 0 && options.color ? cut.map((cell) => `\u001b[1m${cell}\u001b[22m`) : cut);
  }
  const lines = table.toString().split("\n");
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
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

/** Widths that fit: the widest column gives way first, those marked whole only when nothing else can. */
function fitWidths<Row>(cells: string[][], columns: readonly Column<Row>[], width: number | undefined): number[] {
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => Bun.stringWidth(row[column] ?? ""))));
  if (width === undefined) return widths;
  const room = Math.max(width - gap * (columns.length - 1), columns.length);
  const flexible = columns.map((column) => !column.whole);
  shrink(widths, flexible, room, narrowest);
  shrink(
    widths,
    columns.map(() => true),
    room,
    1,
  );
  return widths;
}

/** Narrows the widest of the columns in question, one by one, until all fit or none is wider than `least`. */
function shrink(widths: number[], isOpen: boolean[], room: number, least: number): void {
  while (sum(widths) > room) {
    const widest = Math.max(...widths.filter((_, column) => isOpen[column]));
    if (widest <= least) return;
    widths[widths.findIndex((width, column) => isOpen[column] && width === widest)] = widest - 1;
  }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

import { sumOf } from "../../server/values/money.ts";

// Control characters, line separators, direction overrides and lone surrogates. With them, a stored text could move the
// cursor, or change the colours and the order of the text on the screen.
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu;

const shortForms: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Escapes the characters that a terminal would execute instead of printing (`\n`, `\u001b`). */
export function escapeControls(text: string): string {
  return text.replace(unsafe, (character) => shortForms[character] ?? escapeUnicode(character));
}

export function escapeJson(json: string): string {
  return json.replace(unsafe, (character) => (character === "\n" ? character : escapeUnicode(character)));
}

function escapeUnicode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

export interface Column<Row> {
  header: string;
  value(row: Row): string;
}

interface Layout {
  /** The width of the terminal in columns. Undefined for a file or pipe: then nothing is cut. */
  width: number | undefined;
  color: boolean;
}

const gap = 2;
/** No column is cut to fewer characters, so states, amounts and times stay whole. */
const narrowestColumn = 12;
const narrowestField = 16;
const indent = "  ";

type Cells = ReturnType<typeof readCells>;

const colors: [code: number, states: string][] = [
  [32, "active published paid completed sent delivered ok applied"],
  [33, "inactive unpublished disabled suspended pending queued waiting unpaid refunded"],
  [31, "revoked expired failed cancelled dropped blocked gone"],
];
const stateHeaders = ["STATE", "STATUS", "PAYMENT"];
const stateColors = new Map(colors.flatMap(([code, states]) => states.split(" ").map((state) => [state, code])));

export function colorState(state: string): string {
  const color = stateColors.get(state);
  return color === undefined ? state : `\u001b[${color}m${state}\u001b[39m`;
}

export function bold(text: string, color: boolean): string {
  return color ? `\u001b[1m${text}\u001b[22m` : text;
}

export function renderFields(fields: readonly (readonly [label: string, value: string])[], { width, color }: Layout) {
  const labelWidth = Math.max(...fields.map(([label]) => Bun.stringWidth(label))) + gap;
  const lines = fields.flatMap(([label, value]) => {
    const padded = bold(label + " ".repeat(labelWidth - Bun.stringWidth(label)), color);
    if (width === undefined || labelWidth + Bun.stringWidth(value) <= width) return [padded + value];
    const room = width - labelWidth;
    const beside = wrapWords(value, room);
    if (room >= narrowestField && beside.every((line) => Bun.stringWidth(line) <= room)) {
      return beside.map((line, index) => (index === 0 ? padded : " ".repeat(labelWidth)) + line);
    }
    const below = wrapWords(value, width - indent.length);
    const above = wrapWords(label.trim(), width).map((line) => bold(line, color));
    return [...above, ...below.map((line) => (Bun.stringWidth(indent + line) <= width ? indent : "") + line)];
  });
  return `${lines.join("\n")}\n`;
}

/**
 * Formats rows as a table. For a narrow terminal, it cuts texts, then hides columns: empty ones first, then the last
 * ones. If it had to hide half of the columns, it formats each row as a block of lines instead.
 * @returns the text, and the headers of the hidden columns.
 */
export function layOutTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], { width, color }: Layout) {
  const all = columns.map((column, index) => readCells(rows, column, index));
  const shown = width === undefined ? all : fitColumns(all, width);
  if (shown === undefined) {
    const blocks = rows.map((_, row) => all.map(({ header, texts }) => [header, texts[row] ?? ""] as const));
    return { text: blocks.map((fields) => renderFields(fields, { width, color })).join("\n"), hidden: [] };
  }
  const hidden = all.filter((column) => !shown.includes(column)).map(({ header }) => header);
  const widths = fitWidths(shown, width);
  const lines = [-1, ...rows.keys()].map((row) => {
    const cells = shown.map(({ header, texts }, index) => {
      const room = widths[index] ?? 0;
      const text = truncateText(texts[row] ?? header, room);
      const padding = " ".repeat(index === shown.length - 1 ? 0 : room + gap - Bun.stringWidth(text));
      if (row === -1) return bold(text, color && text !== "") + padding;
      return (color && stateHeaders.includes(header) ? colorState(text) : text) + padding;
    });
    return `${cells.join("").trimEnd()}\n`;
  });
  return { text: lines.join(""), hidden };
}

/** Cuts a text to a number of terminal columns, and marks the cut with …. */
export function truncateText(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let kept = "";
  let used = 1;
  // Bun.sliceAnsi would keep a wide character at the cut, and the text would be too long.
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += Bun.stringWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return width < 1 ? "" : `${kept}…`;
}

/** Reads the cells of a column. The first column, ids and timestamps are never cut: a part of them is useless. */
function readCells<Row>(rows: readonly Row[], { header, value }: Column<Row>, index: number) {
  const texts = rows.map((row) => escapeControls(value(row)));
  const width = Math.max(...[header, ...texts].map((text) => Bun.stringWidth(text)));
  const isWhole = index === 0 || texts.some((text) => /^(?:[a-z]+_[a-z0-9]{26}\b|\d{4}-\d\d-\d\dT)/.test(text));
  return { header, texts, width, isWhole, minWidth: isWhole ? width : Math.min(width, narrowestColumn) };
}

/** Returns the columns that fit with cut texts; undefined if half of the columns would not fit. */
function fitColumns(columns: readonly Cells[], width: number): readonly Cells[] | undefined {
  const shown = [...columns];
  const isEmpty = ({ texts }: Cells) => texts.every((text) => text === "-" || text === "");
  while (sumOf(shown, ({ minWidth }) => minWidth) + gap * (shown.length - 1) > width) {
    const candidates = shown.filter(({ isWhole }) => !isWhole);
    const next = candidates.findLast(isEmpty) ?? candidates.at(-1);
    if (next === undefined || 2 * (columns.length - shown.length + 1) >= columns.length) return undefined;
    shown.splice(shown.indexOf(next), 1);
  }
  return shown;
}

function fitWidths(columns: readonly Cells[], total: number | undefined): number[] {
  const sizes = columns.map(({ width, minWidth }) => ({ width, minWidth }));
  const room = (total ?? Number.POSITIVE_INFINITY) - gap * (columns.length - 1);
  while (sumOf(sizes, ({ width }) => width) > room) {
    const open = sizes.filter(({ width, minWidth }) => width > minWidth);
    const [widest] = open.sort((a, b) => b.width - a.width);
    if (widest === undefined) break;
    widest.width -= 1;
  }
  return sizes.map(({ width }) => width);
}

/** Wraps a text between words to a number of terminal columns. A longer word stays on one line. */
export function wrapWords(text: string, width: number): string[] {
  return Bun.wrapAnsi(text, width).split("\n");
}

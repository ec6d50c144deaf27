import type { Comparison } from "./compare.ts";

/** A line of the table. */
export interface Row extends Comparison {
  name: string;
  /** The unit; empty for a count. */
  unit: "/s" | "ms" | "µs" | "MiB" | "B" | "";
  /**
   * The target: `atLeast` and `ratioAtMost` are about the ratio, `atMost` is about Bodega's figure in its unit. Without
   * a target, the row only informs.
   */
  mark?: { atLeast: number } | { atMost: number } | { ratioAtMost: number };
}

/** Whether a row meets its target; undefined without a target. */
export function holds({ mark, ratio, ours }: Row): boolean | undefined {
  if (mark === undefined) return undefined;
  if ("ratioAtMost" in mark) return ratio <= mark.ratioAtMost;
  return "atLeast" in mark ? ratio >= mark.atLeast : ours <= mark.atMost;
}

export function formatTable(rows: readonly Row[]): string {
  const lines = [["", "bodega", "bare", "ratio", "of pairs", "mark", ""], ...rows.map(formatRow)];
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return `${lines.map((line) => line.map(pad).join("  ").trimEnd()).join("\n")}\n`;
}

function formatRow(row: Row): string[] {
  const { name, unit, ours, bare, ratio, spread, mark } = row;
  const isWhole = unit === "/s" || unit === "B" || unit === "";
  const figure = (value: number) =>
    Number.isNaN(value) ? "" : `${isWhole ? Math.round(value).toLocaleString("en") : value.toFixed(1)} ${unit}`.trim();
  const demand = mark === undefined ? "" : describeMark(mark, unit);
  const kept = holds(row);
  const verdict = kept === undefined ? "" : kept ? "ok" : "MISSED";
  const pairs = spread ? `${spread[0].toFixed(2)}-${spread[1].toFixed(2)}` : "";
  return [name, figure(ours), figure(bare), Number.isNaN(ratio) ? "" : ratio.toFixed(2), pairs, demand, verdict];
}

function describeMark(mark: NonNullable<Row["mark"]>, unit: string): string {
  if ("ratioAtMost" in mark) return `<= ${mark.ratioAtMost}`;
  return "atLeast" in mark ? `>= ${mark.atLeast}` : `<= ${mark.atMost} ${unit}`.trim();
}

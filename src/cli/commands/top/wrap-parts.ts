import { truncateText } from "../../terminal/table.ts";

const gap = "  ";
/** What does not fit into so many lines is left out; parts that say most come first. */
const maxLines = 4;

/** Short texts side by side in as few lines of a width as they need; none is cut that fits into a line by itself. */
export function wrapParts(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const line = lines.at(-1);
    const longer = line === undefined ? part : `${line}${gap}${part}`;
    if (line !== undefined && Bun.stringWidth(longer) > width) lines.push(part);
    else lines[Math.max(0, lines.length - 1)] = longer;
  }
  const shown = lines.slice(0, maxLines - 1);
  const rest = lines.slice(maxLines - 1).join(gap);
  return [...shown, ...(rest === "" ? [] : [rest])].map((line) => truncateText(line, width));
}

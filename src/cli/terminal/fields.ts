import { bold } from "./style.ts";
import { wrapWords } from "./wrap.ts";

interface FieldsOptions {
  /** Columns of the terminal; undefined for a file or pipe, where each field is one line. */
  width: number | undefined;
  color: boolean;
}

const gap = 2;
const indent = 2;
const narrowest = 16;

/**
 * A line for each field, its value beside its label. Where the terminal is too narrow the value goes on below, cut
 * between words only: a word that no line can hold, such as a secret, stays whole, so that it can be copied.
 */
export function renderFields(fields: readonly (readonly [label: string, value: string])[], options: FieldsOptions) {
  const { width, color } = options;
  const labelWidth = Math.max(...fields.map(([label]) => Bun.stringWidth(label))) + gap;
  const style = color ? bold : (label: string) => label;
  const lines = fields.flatMap(([label, value]) => {
    const padded = style(label + " ".repeat(labelWidth - Bun.stringWidth(label)));
    if (width === undefined || labelWidth + Bun.stringWidth(value) <= width) return [padded + value];
    const room = width - labelWidth;
    const words = value.split(" ").map((word) => Bun.stringWidth(word));
    if (room >= narrowest && Math.max(...words) <= room) {
      return wrapWords(value, room).map((line, index) => (index === 0 ? padded : " ".repeat(labelWidth)) + line);
    }
    const below = wrapWords(value, width - indent);
    return [style(label), ...below.map((line) => (fits(line, width - indent) ? " ".repeat(indent) : "") + line)];
  });
  return `${lines.join("\n")}\n`;
}

function fits(line: string, width: number): boolean {
  return Bun.stringWidth(line) <= width;
}

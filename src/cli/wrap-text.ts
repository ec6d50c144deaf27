const widest = 100;
const narrowest = 20;

interface WrapOptions {
  /** Columns of the terminal; undefined for a file or pipe, where nothing is broken. */
  width: number | undefined;
  /** What stands before each further line. */
  indent: string;
}

/** Breaks a paragraph between words, so that it fits a terminal. Words that are wider than it stay whole. */
export function wrapText(text: string, options: WrapOptions): string {
  return breakLines(text.split(" "), options, "");
}

/** The same for a command line, which stays one for the shell that it is pasted into. */
export function wrapCommand(text: string, options: WrapOptions): string {
  return breakLines(text.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? [], options, " \\");
}

function breakLines(words: readonly string[], { width, indent }: WrapOptions, ending: string): string {
  if (width === undefined) return words.join(" ");
  const most = Math.max(narrowest, Math.min(width, widest)) - ending.length;
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line === undefined) lines.push(word);
    else if (Bun.stringWidth(line) + 1 + Bun.stringWidth(word) <= most) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`${indent}${word}`);
  }
  return lines.join(`${ending}\n`);
}

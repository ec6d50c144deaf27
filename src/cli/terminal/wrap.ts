/** The text in lines of at most so many terminal columns, broken between words; a word that is wider stays whole. */
export function wrapWords(text: string, width: number): string[] {
  return breakWords(text.split(" "), width);
}

/** The same for words that may have spaces in them. */
export function breakWords(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line !== undefined && Bun.stringWidth(line) + 1 + Bun.stringWidth(word) <= width) {
      lines[lines.length - 1] = `${line} ${word}`;
    } else lines.push(word);
  }
  return lines;
}

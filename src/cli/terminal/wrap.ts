/** Wraps a text between words to a number of terminal columns; a wider word stays whole. */
export function wrapWords(text: string, width: number): string[] {
  return breakWords(text.split(" "), width);
}

export function breakWords(words: readonly string[], width: number, gap = " "): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line !== undefined && Bun.stringWidth(line + gap + word) <= width) {
      lines[lines.length - 1] = line + gap + word;
    } else lines.push(word);
  }
  return lines;
}

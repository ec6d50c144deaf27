import type { Row, RowError } from "./import-item.ts";

/** Longest line, or CSV record, of an import file in characters; more than any product can have. */
export const maxRecordLength = 4 * 1024 * 1024;

/** Replaces bytes that are not UTF-8. Valid files have no NUL, so it cannot be mistaken for text of the file. */
const invalidBytes = "\0\uFFFD";

/** Decodes a file piece by piece. Invalid UTF-8 is marked in the text, so that `findBadText` can report its line. */
export async function* decodeText(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let validator = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of input) {
    let text = decoder.decode(chunk, { stream: true });
    try {
      validator.decode(chunk, { stream: true });
    } catch {
      text = text.replaceAll("\uFFFD", invalidBytes);
      validator = new TextDecoder("utf-8", { fatal: true });
    }
    if (text !== "") yield text;
  }
  if (decoder.decode() !== "") yield invalidBytes;
}

/** Finds the first invalid bytes, or else the first NUL, in the texts of a row that begins on that line. */
export function findBadText(texts: readonly string[], line: number): RowError | undefined {
  const isInvalid = texts.some((text) => text.includes(invalidBytes));
  const message = isInvalid
    ? "is not valid UTF-8. Save the file as UTF-8 and try again"
    : "contains a NUL byte. Remove it";
  let at = line;
  for (const text of texts) {
    const place = text.indexOf(isInvalid ? invalidBytes : "\0");
    if (place !== -1) return { line: at + countLineBreaks(text.slice(0, place)), field: null, message };
    at += countLineBreaks(text);
  }
  return undefined;
}

export function countLineBreaks(text: string): number {
  return text.match(/\r\n?|\n/g)?.length ?? 0;
}

export function checkRow({ line, cells }: Row, columns: number): RowError | undefined {
  const bad = findBadText(cells, line);
  if (bad || cells.length === columns) return bad;
  return { line, field: null, message: `has ${cells.length} cells, but the header has ${columns} columns` };
}

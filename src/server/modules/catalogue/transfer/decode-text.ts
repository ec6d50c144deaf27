import type { Row, RowError } from "./import-item.ts";

/** Longest line, or CSV record, of an import file in characters; more than any product can have. */
export const maxRecordLength = 4 * 1024 * 1024;

/** Decodes a file piece by piece. Bytes that are not UTF-8 become U+FFFD, with which `findBadText` reports their line. */
export async function* decodeText(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of input) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

export function findBadText(texts: readonly string[], line: number): RowError | undefined {
  if (!texts.some((text) => text.includes("\uFFFD"))) return undefined;
  return { line, field: null, message: "is not valid UTF-8. Save the file as UTF-8 and try again" };
}

export function checkRow({ line, cells }: Row, columns: number): RowError | undefined {
  const bad = findBadText(cells, line);
  if (bad || cells.length === columns) return bad;
  return { line, field: null, message: `has ${cells.length} cells, but the header has ${columns} columns` };
}

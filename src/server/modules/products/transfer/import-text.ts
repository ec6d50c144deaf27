import type { RowFault } from "./import-item.ts";

/** The longest line, or cell with line breaks, of a file to import, in characters: what one product can hold and more. */
export const longestRecord = 4 * 1024 * 1024;

/** Stands where bytes are no UTF-8. No text may hold a zero byte, so nothing that is right is taken for it. */
const badBytes = "\0\uFFFD";

/**
 * The text of a file in pieces as they come, without its byte order mark. Bytes that are no UTF-8 are marked in the text,
 * so that `findBadText` names their line, and what stands before them is read.
 */
export async function* decodeText(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Uint8Array = new Uint8Array();
  let isStart = true;
  const decode = (bytes: Uint8Array) => {
    const text = decodeWhole(bytes);
    const isMarked = isStart && text.startsWith("\uFEFF");
    if (text !== "") isStart = false;
    return isMarked ? text.slice(1) : text;
  };
  for await (const chunk of input) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = wholeCharacters(bytes);
    // A copy: whoever gave the chunk may fill it anew.
    rest = bytes.slice(end);
    const text = decode(bytes.subarray(0, end));
    if (text !== "") yield text;
  }
  const last = decode(rest);
  if (last !== "") yield last;
}

/** Where the last bytes begin that may be half a character. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return bytes.length - back;
  }
  return bytes.length;
}

function decodeWhole(bytes: Uint8Array): string {
  const text = decodeStrictly(bytes);
  if (text !== undefined) return text;
  // Line by line, so that a replacement character that stands in the file itself spoils no other line.
  const lines = Buffer.from(bytes)
    .toString("latin1")
    .split(/(?<=[\r\n])/);
  return lines.map((line) => decodeLine(Buffer.from(line, "latin1"))).join("");
}

function decodeLine(bytes: Uint8Array): string {
  return (
    decodeStrictly(bytes) ?? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).replaceAll("\uFFFD", badBytes)
  );
}

function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** What is wrong with the texts of a row that begins on that line; undefined when all of them are texts. */
export function findBadText(texts: readonly string[], line: number): RowFault | undefined {
  const unreadable = "is no UTF-8 text; save the file as UTF-8, then try again";
  const zero = "holds a zero byte (NUL), which no text may; take it out";
  return findMark(texts, line, badBytes, unreadable) ?? findMark(texts, line, "\0", zero);
}

function findMark(texts: readonly string[], line: number, mark: string, message: string): RowFault | undefined {
  let at = line;
  for (const text of texts) {
    const place = text.indexOf(mark);
    if (place !== -1) return { line: at + countBreaks(text.slice(0, place)), field: null, message };
    at += countBreaks(text);
  }
  return undefined;
}

/** How many line breaks a text has, in any of their three forms. */
export function countBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  for (let at = text.indexOf("\r"); at !== -1; at = text.indexOf("\r", at + 1)) if (text[at + 1] !== "\n") count++;
  return count;
}

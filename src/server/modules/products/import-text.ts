import { UnreadableInput } from "./import-item.ts";

/** The longest line, or cell with line breaks, of a file to import, in characters: what one product can hold and more. */
export const longestRecord = 4 * 1024 * 1024;

/**
 * The text of a file in pieces as they come, without its byte order mark.
 * @throws UnreadableInput for what is no UTF-8 text.
 */
export async function* decodeText(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // The decoder also takes the byte order mark away.
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 1;
  const decode = (chunk?: Uint8Array) => {
    try {
      const text = chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
      if (!text.includes("\0")) return text;
    } catch {
      // Told below: the engine's own message says nothing to whoever made the file.
    }
    throw new UnreadableInput(line, "is no UTF-8 text from about here on; save the file as UTF-8, then try again");
  };
  for await (const chunk of input) {
    const text = decode(chunk);
    if (text !== "") yield text;
    line += countBreaks(text);
  }
  const rest = decode();
  if (rest !== "") yield rest;
}

/** How many line breaks a text has, in any of their three forms. */
export function countBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  for (let at = text.indexOf("\r"); at !== -1; at = text.indexOf("\r", at + 1)) if (text[at + 1] !== "\n") count++;
  return count;
}

// Control characters, line separators, direction overrides and halves of surrogate pairs: what lets a stored text
// move the cursor, recolour the screen or reorder what is read.
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu;

const shortForms: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text with everything that a terminal would obey, not print, written out as an escape (`\n`, `\u001b`). */
export function escapeControls(text: string): string {
  return text.replace(unsafe, (character) => shortForms[character] ?? escapeUnicode(character));
}

/** The same for JSON text that is serialised already: the result is the same JSON value, and its line breaks stay. */
export function escapeJson(json: string): string {
  return json.replace(unsafe, (character) => (character === "\n" ? character : escapeUnicode(character)));
}

function escapeUnicode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

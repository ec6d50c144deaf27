// Control characters, line separators, direction overrides and lone surrogates. With these, a stored text could move
// the cursor, recolour the screen or reorder text.
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu;

const shortForms: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Escapes the characters that a terminal would execute instead of printing (`\n`, `\u001b`). */
export function escapeControls(text: string): string {
  return text.replace(unsafe, (character) => shortForms[character] ?? escapeUnicode(character));
}

export function escapeJson(json: string): string {
  return json.replace(unsafe, (character) => (character === "\n" ? character : escapeUnicode(character)));
}

function escapeUnicode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

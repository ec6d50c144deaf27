const latin =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para " +
  "middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave " +
  "Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc " +
  "Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc " +
  "iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";
const others =
  "amp& lt< gt> quot\" apos' ndash– mdash— lsquo‘ rsquo’ sbquo‚ ldquo“ rdquo” bdquo„ hellip… bull• euro€ trade™";
const characters = new Map(latin.split(" ").map((name, index) => [name, String.fromCharCode(0xa0 + index)]));
for (const text of others.split(" ")) characters.set(text.slice(0, -1), text.slice(-1));

/** Decodes the character references of an HTML text, such as `&uuml;` and `&#8211;`. Unknown names stay unchanged. */
export function decodeCharacters(text: string): string {
  return text.replace(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|(\w{2,8}));/gi, (whole, decimal, hex, name) => {
    const code = Number(decimal ?? `0x${hex ?? 0}`);
    return (code > 0 ? String.fromCodePoint(code).toWellFormed() : characters.get(name)) ?? whole;
  });
}

const token = /<!--.*?(?:-->|$)|<(script|style)\b.*?(?:<\/\1\s*>|$)|<\/?([a-z][a-z\d]*)[^<>]*>/gis;

export function htmlToText(html: string): string {
  const source = /<(p|h[1-6]|ul|ol|table|blockquote|div|li|tr|br|hr)\b/i.test(html) ? html.replace(/\s/g, " ") : html;
  const marked = source.replace(token, (tag, _, name = "") => {
    if (/^(p|h[1-6]|ul|ol|table|blockquote)$/i.test(name)) return "\n\n";
    if (/^(div|li|tr)$/i.test(name)) return /^<li\b/i.test(tag) ? "\u2028- " : "\u2028";
    return /^[bh]r$/i.test(name) ? "\n" : /^t[dh]$/i.test(name) ? " " : "";
  });
  // Several elements in a row start one line.
  const lines = decodeCharacters(marked.replace(/\u2028[\u2028 ]*/g, "\n"))
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim());
  return lines
    .filter((line, index) => line !== "" || lines[index - 1] !== "")
    .join("\n")
    .trim();
}

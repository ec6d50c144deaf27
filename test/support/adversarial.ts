/** Characters and short texts whose long runs are slow for careless parsers. */
const units = [
  ...["0", "1", "a", " ", "\t", "\n", "\r\n", "\0", "\\", '"', "'", "`", ",", ";", ":", ".", "-", "_", "/", "|", "#"],
  ...["@", "=", "+", "&", "?", "%", "%41", "%ff", "(", "[", "{", "<", "[]", "{}", "*", "~"],
  // A letter that case folding turns into eighteen characters, marks that composition sorts, and scripts without
  // spaces.
  ...["ﷺ", "\u0315\u0316", "e\u0301", "\u1100\u1161\u11a8", "語", "ก", "ß", "ı", "🎉", "\ud800"],
  ...["a-", "a.", "a'", "a@", "a b ", "=1;", ";'=", "\n'-", "''=", "1e", "1.", "xn--", "sk_", "v2.", 'W/"1", ', "::1,"],
  ...["\\u0041", "\\", "&a", "=&", "a=1|", "*.", "bot/", "{[", '{"a":'],
];

/** Returns parts that differ only in their number. */
const numbered: ((n: number) => string)[] = [
  (n) => `a${n} `,
  (n) => `a${n}=${n}&`,
  (n) => `"a${n}":${n},`,
  (n) => `option:a${n},`,
  (n) => `a${n}\n`,
  (n) => `1${n}e5,`,
  (n) => String.fromCodePoint(0x4e00 + (n % 20_000)),
];

/** A kind of text, and a function that returns a text of about `size` characters. */
export interface AdversarialKind {
  name: string;
  write: (size: number) => string;
}

/**
 * Texts that slow down a parser that reads a part repeatedly: runs, runs between other characters, and parts that all
 * differ.
 */
export const adversarialKinds: AdversarialKind[] = [
  ...units.flatMap((unit) => {
    const repeat = (size: number) => unit.repeat(Math.ceil(size / unit.length));
    return [
      { name: `${JSON.stringify(unit)} repeated`, write: repeat },
      {
        name: `${JSON.stringify(unit)} repeated between other characters`,
        write: (size: number) => `1${repeat(size)}1!`,
      },
    ];
  }),
  ...numbered.map((part) => ({
    name: `${JSON.stringify(part(1))} and so on`,
    write(size: number) {
      const parts: string[] = [];
      for (let n = 0, length = 0; length < size; n++) {
        const next = part(n);
        parts.push(next);
        length += next.length;
      }
      return parts.join("");
    },
  })),
];

import { spellPlainly } from "../../../values/fold-letters.ts";

/** A word with fewer letters is its own stem, and is not corrected. */
export const minStem = 4;
const latin = /^[a-z]+$/;
/** Maximum characters of a word that are indexed and searched. The rest of the word is ignored. */
const maxWordLength = 24;
/** Maximum words of a search, because each can match most products. */
const maxSearched = 12;
/** Maximum indexed tokens and characters of a product. A search does not find the rest of a very long description. */
const maxTokens = 12_000;
const maxCharacters = 65_536;
/** Maximum blocks in an expression. A wider window has a rare token, which FTS5 finds as fast without blocks. */
const maxBlocks = 64;
/** Maximum indexed characters of a folded text. Folding makes most texts 1 % longer, a few much longer. */
const maxFolded = (text: string) => text.length * 1.125 + 1000;

/** Accents and vowel signs. In the scripts of India and South-East Asia such marks are part of the word. */
const accents = /(?<=[\p{scx=Latn}\p{scx=Grek}\p{scx=Cyrl}\p{scx=Arab}\p{scx=Hebr}])\p{M}+/gu;
/** Words, also hyphenated words such as `t-shirt`. A separate pattern for those would take quadratic time. */
const wordRun = /[\p{L}\p{M}\p{N}]+(?:['’._-][\p{L}\p{M}\p{N}]+)*|\p{Extended_Pictographic}/gu;
const connectors = /['’._-]/g;
const unspaced = /([\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]+)/u;

/** Texts are folded in chunks, because one character can become eighteen. Chunks end between words if possible. */
const chunk = /.{1,250}(?![^\s。、，！？])|.{1,250}/gsu;

/** Marks after the eighth on a letter, more than any language uses. Sorting them would take quadratic time. */
const needlessMarks = /(?<=\p{M}{8})\p{M}+/gu;

function foldText(text: string): string {
  const bare = text.replace(needlessMarks, "").normalize("NFKD").replace(accents, "").normalize("NFC");
  return spellPlainly(bare.toLowerCase());
}

/** Prefix of all tokens of a tenant, so that a search does not scan the rows of other tenants. */
function tagOf(tenantId: string): string {
  return tenantId.slice(-6);
}

/** Kinds of tokens. No word contains the dot, so a word never equals a token of another kind. */
const kinds = {
  stem: "·w",
  title: "·h",
  tag: "·t",
  category: "·c",
  option: "·o",
  sku: "·k",
  status: "·s",
  sale: "·z",
  block: "·b",
} as const;
export type TermKind = Exclude<keyof typeof kinds, "stem" | "title" | "block">;

/** Returns the token for a tag, category, option, SKU, status or sale. All have the same length. */
export function termToken(tenantId: string, kind: TermKind, value: string): string {
  return tagOf(tenantId) + kinds[kind] + Bun.SHA256.hash(value, "hex").slice(0, 20);
}

const blockBits = 12;
export const blockOf = (rowNumber: string) => `(${rowNumber} >> ${blockBits})`;

export function blockPrefix(tenantId: string): string {
  return tagOf(tenantId) + kinds.block;
}

/** Returns an FTS5 expression for the blocks of a range of row numbers; none if there are too many blocks. */
export function blocksOf(tenantId: string, from: number, to: number): string[] {
  const size = 2 ** blockBits;
  const [first, last] = [Math.floor(Math.min(from, to) / size), Math.floor(Math.max(from, to) / size)];
  if (last - first >= maxBlocks) return [];
  const tokens = Array.from({ length: last - first + 1 }, (_, index) => `"${blockPrefix(tenantId)}${first + index}"`);
  return [`(${tokens.join(" OR ")})`];
}

export function stemToken(tenantId: string, kind: "stem" | "title", stem: string): string {
  return tagOf(tenantId) + kinds[kind] + stem;
}

/** Returns the tokens of texts: prefixes, stems, stems in titles; in unspaced scripts, letters and pairs of letters. */
export function indexTokens(tenantId: string, texts: readonly string[], titles: readonly string[] = []): string {
  const tokens = new Set<string>();
  for (const word of wordsOf(titles)) {
    for (const { text, isUnspaced } of splitScripts(word))
      if (!isUnspaced) tokens.add(kinds.title + stemOf(cutWord(text)));
  }
  for (const word of wordsOf(texts)) {
    addWord(tokens, word);
    if (tokens.size >= maxTokens) break;
  }
  const tag = tagOf(tenantId);
  return [...tokens]
    .slice(0, maxTokens)
    .map((token) => tag + token)
    .join(" ");
}

/** Yields each word once. For `t-shirt`, also yields `tshirt`. */
function* wordsOf(texts: readonly string[]): Generator<string> {
  const seen = new Set<string>();
  for (const folded of foldChunks(texts)) {
    for (const found of folded.match(wordRun) ?? []) {
      if (seen.has(found)) continue;
      seen.add(found);
      const words = found.split(connectors);
      yield* words;
      if (words.length > 1) yield words.join("");
    }
  }
}

function* foldChunks(texts: readonly string[]): Generator<string> {
  let left = maxCharacters;
  for (const text of texts) {
    let leftOfText = Math.min(left, maxFolded(text));
    for (const [part] of text.matchAll(chunk)) {
      if (leftOfText <= 0) break;
      const folded = foldText(part).slice(0, leftOfText);
      const used = Math.max(part.length, folded.length);
      left -= used;
      leftOfText -= used;
      yield folded;
    }
  }
}

function addWord(tokens: Set<string>, word: string): void {
  for (const { text, isUnspaced } of splitScripts(word)) {
    if (isUnspaced) {
      const letters = [...text];
      letters.forEach((letter, index) => {
        tokens.add(letter);
        if (index > 0) tokens.add(letters[index - 1] + letter);
      });
    } else {
      const whole = cutWord(text);
      tokens.add(kinds.stem + stemOf(whole));
      // If a prefix is in `tokens`, all shorter prefixes are, too.
      for (let begun = whole; begun !== "" && !tokens.has(begun); begun = begun.slice(0, -1)) {
        if (begun.isWellFormed()) tokens.add(begun);
      }
    }
  }
}

export interface SearchWord {
  /** The word without case and accents. Undefined in scripts without spaces, whose words are not corrected. */
  word?: string;
  /** The FTS5 expression for products with a word that begins with `word`, or with its singular or plural. */
  anywhere: string;
  inTitle: string;
}

/** Returns the words of `q`. A product must have all of them. Words after the first `maxSearched` are ignored. */
export function searchWords(tenantId: string, q: string): SearchWord[] {
  const parts = (foldText(q).match(wordRun) ?? []).flatMap((joined) => joined.split(connectors)).flatMap(splitScripts);
  const words = parts.flatMap(({ text, isUnspaced }) =>
    isUnspaced ? pairsOf(tenantId, text) : searchWord(tenantId, cutWord(text)),
  );
  return [...new Map(words.map((word) => [word.anywhere, word])).values()].slice(0, maxSearched);
}

function searchWord(tenantId: string, word: string): SearchWord {
  const [stem, begun] = [stemOf(word), `"${tagOf(tenantId)}${word}"`];
  // All words with a stem begin with the stem, so the prefix alone is enough, and faster. But a final `i` can be a `y`.
  const isEnough = stem === word && !word.endsWith("i");
  const anywhere = isEnough ? begun : `(${begun} OR "${stemToken(tenantId, "stem", stem)}")`;
  return { word, anywhere, inTitle: `"${stemToken(tenantId, "title", stem)}"` };
}

function pairsOf(tenantId: string, text: string): SearchWord[] {
  const letters = [...text];
  const pairs = letters.length === 1 ? letters : letters.slice(1).map((letter, i) => letters[i] + letter);
  return pairs.map((pair) => {
    const token = `"${tagOf(tenantId)}${pair}"`;
    return { anywhere: token, inTitle: token };
  });
}

function cutWord(text: string): string {
  return text.length > maxWordLength ? [...text].slice(0, maxWordLength).join("") : text;
}

function splitScripts(text: string): { text: string; isUnspaced: boolean }[] {
  const parts = text.split(unspaced).map((part, index) => ({ text: part, isUnspaced: index % 2 === 1 }));
  return parts.filter((part) => part.text !== "");
}

/** Removes the plural ending of a folded word. `berries` and `berry` become `berri`: a stem need not be a word. */
export function stemOf(word: string): string {
  if (word.length < minStem || !latin.test(word)) return word;
  let stem = word;
  if (stem.endsWith("s") && !/(?:ss|us|is)$/.test(stem)) stem = stem.slice(0, -1);
  else if (/e?aux$/.test(stem)) stem = stem.slice(0, -1);
  if (stem.length >= 6 && stem.endsWith("en")) stem = stem.slice(0, -1);
  if (stem.length >= minStem && stem.endsWith("e")) stem = stem.slice(0, -1);
  return stem.length >= minStem && stem.endsWith("y") ? `${stem.slice(0, -1)}i` : stem;
}

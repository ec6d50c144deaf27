import { spellPlainly } from "../../../values/fold-letters.ts";

/** Longer words are searched by this many characters. */
const maxWordLength = 24;
/** Maximum tokens of a product, and maximum folded characters: the end of very long descriptions is not indexed. */
const maxTokens = 12_000;
const maxCharacters = 65_536;
/** A text that folding makes longer is indexed up to this length. Ordinary texts grow by a hundredth. */
const maxFolded = (text: string) => text.length * 1.125 + 1000;

/** Accents and vowel signs. In the scripts of India and South-East Asia such marks are part of the word. */
const accents = /(?<=[\p{scx=Latn}\p{scx=Grek}\p{scx=Cyrl}\p{scx=Arab}\p{scx=Hebr}])\p{M}+/gu;
/** Words and runs of them; the joint is optional, because a required one would make the expression quadratic. */
const run = /[\p{L}\p{M}\p{N}]+(?:['’._-][\p{L}\p{M}\p{N}]+)*|\p{Extended_Pictographic}/gu;
const joints = /['’._-]/g;
const unspaced = /([\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]+)/u;

/** Texts are folded in pieces, as one character can become eighteen. They end between words, unless one is longer. */
const piece = /.{1,250}(?![^\s。、，！？])|.{1,250}/gsu;

/** More marks on a letter than any language has: putting them in order takes time that grows with their square. */
const needlessMarks = /(?<=\p{M}{8})\p{M}+/gu;

/** A text without case, accents and compatibility forms. */
function foldText(text: string): string {
  const bare = text.replace(needlessMarks, "").normalize("NFKD").replace(accents, "").normalize("NFC");
  return spellPlainly(bare.toLowerCase());
}

/** Prefix of all tokens of a tenant, so that its words do not affect other tenants. */
function tagOf(tenantId: string): string {
  return tenantId.slice(-6);
}

/** The search tokens of texts: every prefix of each word; in scripts without spaces, pairs of characters. */
export function indexTokens(tenantId: string, texts: readonly string[]): string {
  const tokens = new Set<string>();
  const seen = new Set<string>();
  for (const folded of foldPieces(texts)) {
    for (const found of folded.match(run) ?? []) {
      if (seen.has(found)) continue;
      seen.add(found);
      const words = found.split(joints);
      for (const word of words) addWord(tokens, word);
      // `t-shirt` is also found as `tshirt`.
      if (words.length > 1) addWord(tokens, words.join(""));
    }
    if (tokens.size >= maxTokens) break;
  }
  const tag = tagOf(tenantId);
  return [...tokens]
    .slice(0, maxTokens)
    .map((token) => tag + token)
    .join(" ");
}

function* foldPieces(texts: readonly string[]): Generator<string> {
  let left = maxCharacters;
  for (const text of texts) {
    let leftOfText = Math.min(left, maxFolded(text));
    for (const [part] of text.matchAll(piece)) {
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
      // Where a beginning is known, all shorter ones are.
      for (let begun = cutWord(text); begun !== "" && !tokens.has(begun); begun = withoutLast(begun)) tokens.add(begun);
    }
  }
}

/** The FTS5 expression for products that have all words of `q` as beginnings; undefined if `q` has no word. */
export function matchExpression(tenantId: string, q: string): string | undefined {
  const tag = tagOf(tenantId);
  const tokens = new Set<string>();
  const words = foldText(q).match(run) ?? [];
  for (const word of words.flatMap((found) => found.split(joints))) {
    for (const { text, isUnspaced } of splitScripts(word)) {
      const letters = [...text];
      if (!isUnspaced || letters.length === 1) tokens.add(tag + cutWord(text));
      else for (let i = 1; i < letters.length; i++) tokens.add(tag + letters[i - 1] + letters[i]);
    }
  }
  return tokens.size === 0 ? undefined : [...tokens].map((token) => `"${token}"`).join(" AND ");
}

function cutWord(text: string): string {
  return text.length > maxWordLength ? [...text].slice(0, maxWordLength).join("") : text;
}

function withoutLast(text: string): string {
  const cut = text.slice(0, -1);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

function splitScripts(text: string): { text: string; isUnspaced: boolean }[] {
  const parts = text.split(unspaced).map((part, index) => ({ text: part, isUnspaced: index % 2 === 1 }));
  return parts.filter((part) => part.text !== "");
}

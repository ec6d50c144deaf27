import { spellPlainly } from "../../../values/fold-letters.ts";

/** Longest beginning of a word that is told apart, in characters. */
const longestWord = 24;
/** Most tokens that one product gives; what stands further back in a very long description is not found. */
const maxTokens = 12_000;

/** Marks that are accents or vowel signs; in the scripts of India and South-East Asia they are part of the word. */
const accents = /(?<=[\p{scx=Latn}\p{scx=Grek}\p{scx=Cyrl}\p{scx=Arab}\p{scx=Hebr}])\p{M}+/gu;
const word = /[\p{L}\p{M}\p{N}]+|\p{Extended_Pictographic}/gu;
/** Takes every run of letters whole: one that asked for a joint would look at a long run anew from each of its letters. */
const joined = /[\p{L}\p{M}\p{N}]+(?:['’._-][\p{L}\p{M}\p{N}]+)*/gu;
const joints = /['’._-]/g;
const unspaced = /[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]+/gu;

/** A text in the form in which it is compared: without case, accents and compatibility forms. */
function foldText(text: string): string {
  const bare = text.normalize("NFKD").replace(accents, "").normalize("NFC");
  return spellPlainly(bare.toLowerCase());
}

/** What every token of a tenant begins with, so that the words of one are no concern of another's. */
function tagOf(tenantId: string): string {
  return tenantId.slice(-6);
}

/**
 * The tokens under which texts are found, for the search index: every beginning of each word, and of scripts that put no
 * spaces between words every character and pair of characters. They are words of ASCII letters and digits and other
 * letters, joined by spaces.
 */
export function indexTokens(tenantId: string, texts: readonly string[]): string {
  const tag = tagOf(tenantId);
  const tokens = new Set<string>();
  for (const text of texts) {
    const folded = foldText(text);
    for (const [found] of folded.matchAll(word)) addWord(tokens, tag, found);
    // `t-shirt` is also looked for as `tshirt`.
    for (const [found] of folded.matchAll(joined)) {
      const whole = found.replace(joints, "");
      if (whole !== found) addWord(tokens, tag, whole);
    }
    if (tokens.size >= maxTokens) break;
  }
  return [...tokens].slice(0, maxTokens).join(" ");
}

function addWord(tokens: Set<string>, tag: string, found: string): void {
  for (const { text, isUnspaced } of splitScripts(found)) {
    const letters = [...text];
    if (isUnspaced) {
      letters.forEach((letter, index) => {
        tokens.add(tag + letter);
        if (index > 0) tokens.add(tag + letters[index - 1] + letter);
      });
    } else {
      let begun = tag;
      for (const letter of letters.slice(0, longestWord)) {
        begun += letter;
        tokens.add(begun);
      }
    }
  }
}

/**
 * What finds the products whose texts have all words of `q`, each as the beginning of a word: an expression of FTS5 made
 * of quoted tokens only, whatever `q` holds. Undefined when `q` has neither letter nor digit nor picture in it.
 */
export function matchExpression(tenantId: string, q: string): string | undefined {
  const tag = tagOf(tenantId);
  const tokens = new Set<string>();
  for (const [found] of foldText(q).matchAll(word)) {
    for (const { text, isUnspaced } of splitScripts(found)) {
      const letters = [...text];
      if (!isUnspaced || letters.length === 1) tokens.add(tag + letters.slice(0, longestWord).join(""));
      else for (let i = 1; i < letters.length; i++) tokens.add(tag + letters[i - 1] + letters[i]);
    }
  }
  return tokens.size === 0 ? undefined : [...tokens].map((token) => `"${token}"`).join(" AND ");
}

function* splitScripts(text: string): Generator<{ text: string; isUnspaced: boolean }> {
  let end = 0;
  for (const match of text.matchAll(unspaced)) {
    if (match.index > end) yield { text: text.slice(end, match.index), isUnspaced: false };
    yield { text: match[0], isUnspaced: true };
    end = match.index + match[0].length;
  }
  if (end < text.length) yield { text: text.slice(end), isUnspaced: false };
}

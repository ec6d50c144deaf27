// Checks the back office in `examples/back-office` without a browser.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../../examples/back-office");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const files = [...new Bun.Glob("**/*").scanSync({ cwd: root })].sort();
const scripts = files.filter((path) => path.endsWith(".js"));

test("the back office has less than 80 KB of script", () => {
  expect(scripts.length).toBeGreaterThan(20);
  expect(scripts.reduce((sum, path) => sum + Buffer.byteLength(read(path)), 0)).toBeLessThan(80_000);
});

test("the back office never makes markup from a text, and has no styles or scripts inside its page", () => {
  for (const path of scripts) expect(read(path)).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|srcdoc|\beval\b/);
  expect(read("index.html")).not.toMatch(/<style| style=| on\w+=|<script>/);
});

test("the back office has the same texts in all languages, and exactly the texts that it uses", () => {
  const [en = [], de = []] = ["en", "de"].map((lang) => Object.keys(JSON.parse(read(`words/${lang}.json`))));
  expect(de.sort()).toEqual(en.sort());
  const texts = [read("index.html"), ...scripts.map(read)].join("\n");
  const named = [...texts.matchAll(/["'`]([a-z]\w*(?:\.\w+)+)["'`]/gi)].map(([, name]) => name as string);
  const isWord = (name: string) =>
    en.some((word) => word.startsWith(`${name.split(".")[0]}.`)) && !/\.(?:js|css|json)$/.test(name);
  expect(named.filter(isWord).filter((name) => !en.includes(name))).toEqual([]);
  // Some names of words are composed: `status.${status}` results in `status.paid`.
  const prefixes = [...texts.matchAll(/`(\w+\.(?:\w+\.)*)\$\{/g)].map(([, prefix]) => prefix as string);
  const kinds = ["sales", "shipping", "taxes", "codes", "mails", "account"];
  const isUsed = (word: string) =>
    named.includes(word) ||
    prefixes.some((prefix) => word.startsWith(prefix)) ||
    kinds.includes(word.split(".")[0] as string);
  expect(en.filter((word) => !isUsed(word))).toEqual([]);
});

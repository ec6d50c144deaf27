// Checks the example shop in `examples/storefront` without a browser.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../../examples/storefront");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const files = [...new Bun.Glob("**/*").scanSync({ cwd: root })].sort();
const scripts = files.filter((path) => path.endsWith(".js"));

test("the example shop has less than 90 KB of script", () => {
  expect(scripts.length).toBeGreaterThan(20);
  expect(scripts.reduce((sum, path) => sum + Buffer.byteLength(read(path)), 0)).toBeLessThan(90_000);
});

test("the example shop caches all its files for use without a connection", () => {
  const needed = files.filter((path) => !["README.md", "index.html", "shell.json", "sw.js"].includes(path));
  // `./` is index.html, and config.json is the host's file.
  expect(JSON.parse(read("shell.json")).sort()).toEqual(["./", "config.json", ...needed].sort());
});

test("the example shop has the same words in all languages, and all words that its pages use", () => {
  const [en = [], ...others] = ["en", "de", "fr"].map((lang) => Object.keys(JSON.parse(read(`words/${lang}.json`))));
  for (const words of others) expect(words.sort()).toEqual(en.sort());
  const inPage = [...read("index.html").matchAll(/data-(?:word|label|placeholder)="([^"]+)"/g)];
  const inScripts = scripts.flatMap((path) => [...read(path).matchAll(/\bt\("([^"]+)"/g)]);
  expect(inPage.length).toBeGreaterThan(50);
  for (const [, word] of [...inPage, ...inScripts]) expect(en).toContain(word as string);
});

test("the scripts of the example shop fill only templates that its page has", () => {
  const ids = new Set([...read("index.html").matchAll(/<template id="([^"]+)"/g)].map(([, id]) => id));
  const taken = scripts.flatMap((path) => [...read(path).matchAll(/\btake\("([^"]+)"/g)].map(([, id]) => id));
  expect(taken.length).toBeGreaterThan(20);
  expect(taken.filter((id) => !ids.has(id))).toEqual([]);
});

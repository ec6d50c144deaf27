// Keeps the front page short and its links valid.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dir, "../..");
const guides = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
const readme = readFileSync(join(root, "README.md"), "utf8");

test("the README has at most 120 lines, and names every guide", () => {
  expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(120);
  for (const name of guides) expect(readme).toContain(`(docs/${name})`);
});

test("the pictures of the README are small", () => {
  const pictures = [...readme.matchAll(/!\[.+\]\((.+)\)/g)].map(([, path]) => path as string);
  expect(pictures).toHaveLength(2);
  for (const path of pictures) expect(statSync(join(root, path)).size).toBeLessThan(200_000);
});

test("the files that README and guides link to exist", () => {
  const missing = ["README.md", ...guides.map((name) => `docs/${name}`)].flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(/\]\((?!https?:)([^)#\s]+)[^)]*\)/g)]
      .map(([, link]) => join(dirname(path), link as string))
      .filter((file) => !existsSync(join(root, file)))
      .map((file) => `${path}: ${file}`),
  );
  expect(missing).toEqual([]);
});

// Checks that the README is short, and that links in README and guides are valid.
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

test("all guides together have at most 330 KB", () => {
  const sizes = guides.map((name) => statSync(join(root, "docs", name)).size);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(330_000);
});

test("each guide begins with what the reader will have at its end", () => {
  for (const name of guides.filter((name) => name !== "CLI.md")) {
    expect(readFileSync(join(root, "docs", name), "utf8")).toMatch(/^# .+\n\nAt the end of /);
  }
});

test("the pictures of the README are small", () => {
  const pictures = [...readme.matchAll(/!\[.+\]\((.+)\)/g)].map(([, path]) => path as string);
  expect(pictures).toHaveLength(2);
  for (const path of pictures) expect(statSync(join(root, path)).size).toBeLessThan(200_000);
});

/** Returns the anchors of a page, as GitHub builds them from its headings. */
function anchorsOf(markdown: string): string[] {
  const titles = markdown.replace(/^```[\s\S]*?^```/gm, "").match(/(?<=^#{1,6} ).+$/gm) ?? [];
  return titles.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test("the files and sections that README and guides link to exist", () => {
  const broken = ["README.md", ...guides.map((name) => `docs/${name}`)].flatMap((path) => {
    const links = readFileSync(join(root, path), "utf8").matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)/g);
    return [...links].flatMap(([link, name = "", anchor]) => {
      const file = join(root, name ? join(dirname(path), name) : path);
      const exists = existsSync(file) && (!anchor || anchorsOf(readFileSync(file, "utf8")).includes(anchor));
      return exists ? [] : [`${path}: ${link}`];
    });
  });
  expect(broken).toEqual([]);
});

test("each decision in ARCHITECTURE.md has a title and at most three sentences", () => {
  const architecture = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const [, decisions = ""] = /^## Decisions$([\s\S]*?)^## /m.exec(architecture) ?? [];
  const items = decisions.split(/^- /m).slice(1);
  expect(items.length).toBeGreaterThan(40);
  for (const item of items) {
    expect(item).toMatch(/^\*\*.+?\.\*\* /);
    const [text = ""] = item.replace(/^\*\*.+?\*\* /, "").split(/\n\n/);
    expect(text.replace(/\s+/g, " ").match(/[.!?](?= [A-Z`]|\s*$)/g)?.length, item).toBeLessThanOrEqual(3);
  }
});

test("the source files that ARCHITECTURE.md and CONTRIBUTING.md name exist", () => {
  const files = [...new Bun.Glob("{src,test,scripts,tools}/**/*").scanSync({ cwd: root, dot: false })];
  const missing = ["ARCHITECTURE.md", "CONTRIBUTING.md"].flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(/`([\w./-]+\.(?:ts|json))`/g)]
      .map(([, name]) => name as string)
      .filter((name) => !existsSync(join(root, name)) && !files.some((file) => file.endsWith(`/${name}`)))
      .map((name) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});

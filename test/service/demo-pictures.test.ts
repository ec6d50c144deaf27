import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import details from "../../tools/demo-pictures/details.json" with { type: "json" };

const root = join(import.meta.dir, "../..");
const folder = join(root, "src/server/admin/demo-pictures");

/** A drawing and the details of it that are shown, too. */
const views = (name: string) => [
  `${name}.webp`,
  ...Object.keys(details[name as keyof typeof details]).map((_, index) => `detail-${index + 1}/${name}.webp`),
];

test("each picture of the demo is a small WebP as the server stores them, and has its drawing", async () => {
  const names = [...new Bun.Glob("**/*.webp").scanSync(folder)];
  for (const name of names) {
    const bytes = readFileSync(join(folder, name));
    expect(bytes.length).toBeLessThan(20_000);
    expect(await new Bun.Image(bytes).metadata()).toEqual({ width: 640, height: 640, format: "webp" });
  }
  const drawings = [...new Bun.Glob("*.svg").scanSync(join(root, "tools/demo-pictures"))].map((name) =>
    name.slice(0, -4),
  );
  expect(drawings.length).toBe(21);
  expect(drawings.flatMap(views).toSorted()).toEqual(names.toSorted());
});

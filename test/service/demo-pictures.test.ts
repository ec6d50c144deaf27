import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const folder = join(root, "src/server/admin/demo-pictures");

test("each picture of the demo is a small WebP as the server stores them, and has its drawing", async () => {
  const names = readdirSync(folder);
  expect(names.length).toBe(21);
  for (const name of names) {
    const bytes = readFileSync(join(folder, name));
    expect(bytes.length).toBeLessThan(20_000);
    expect(await new Bun.Image(bytes).metadata()).toEqual({ width: 640, height: 640, format: "webp" });
  }
  const drawn = readdirSync(join(root, "tools/demo-pictures")).map((name) => name.replace(".svg", ".webp"));
  expect(drawn.toSorted()).toEqual(names.toSorted());
});

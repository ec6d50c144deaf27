import { expect, test } from "bun:test";
import { join } from "node:path";

const server = join(import.meta.dir, "..", "..", "src", "server");
const asserted = /\bstatement<|: Statement<\w+> = |\brows(?:\[\w+\])?\)? as |\bupdateStatement</g;

test("at most sixty row types are asserted by hand; tables give the others their types", async () => {
  const found: string[] = [];
  for (const path of new Bun.Glob("**/*.ts").scanSync(server)) {
    const text = await Bun.file(join(server, path)).text();
    for (const [match] of text.matchAll(asserted)) found.push(`${path}: ${match}`);
  }
  expect(found.length).toBeGreaterThan(10);
  expect(found.length, found.join("\n")).toBeLessThanOrEqual(60);
});

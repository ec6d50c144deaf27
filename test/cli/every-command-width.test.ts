import { describe, expect, test } from "bun:test";
import { type CalledCommand, fullLine, listCalledCommands } from "./every-command.ts";
import { usePreparedShop } from "./prepared-shop.ts";
import { runHere } from "./run-here.ts";

const copyShop = usePreparedShop();
const commands = (await listCalledCommands()).map((called): [string, CalledCommand] => [called.name, called]);
/** Commands that print the content of a file, or JSON, which must not be wrapped. */
const unlaid = new Set(["api", "mcp", "order export", "product export", "user export", "completion"]);
const tables = commands.filter(
  ([name, { call }]) => call.server === undefined && !call.alone && !call.input && !unlaid.has(name),
);
const ids = /\b(?:app|usr|prod|ord|line|ref|whk|evt|msg|reg|mail|tok)_\w{26}\b/g;

/** Finds lines that are wider than the terminal. Single words and commands may be wider, so that they can be copied. */
function findWideLines(text: string, columns: number): string[] {
  const lines = Bun.stripANSI(text).split("\n");
  return lines.filter(
    (line) => Bun.stringWidth(line) > columns && /\S\s+\S/.test(line) && !/^ *(?:> )?(?:bodega|chmod|ssh) /.test(line),
  );
}

describe("no line of output is wider than the terminal, and ids are complete", () => {
  test.each(tables)("bodega %s", async (_name, called) => {
    const isList = called.call.answer === "list";
    const first = copyShop();
    for (const columns of [40, 200]) {
      const shop = isList || columns === 40 ? first : copyShop();
      const { stdout } = await runHere(fullLine(called, shop), { env: shop.env, columns });
      expect(findWideLines(stdout, columns)).toEqual([]);
      if (columns !== 200 || !isList) continue;
      const piped = await runHere(fullLine(called, shop), { env: shop.env });
      expect(stdout.match(ids)).toEqual(piped.stdout.match(ids));
      // The … of a masked recipient is not a cut.
      expect(stdout.replaceAll("a…@example.com", "")).not.toContain("…");
    }
  });
});

test("columns hidden in a narrow terminal are named below the table, except with -q", async () => {
  const { env } = copyShop();
  const { stdout, stderr } = await runHere(["user", "list", "-n", "demo"], { env, columns: 80 });
  expect(stdout).not.toContain("LAST SIGN-IN");
  expect(stderr).toMatch(/^Hidden columns: .*LAST SIGN-IN/);
  for (const flag of ["-q", "--json"]) {
    expect((await runHere(["user", "list", "-n", "demo", flag], { env, columns: 80 })).stderr).toBe("");
  }
  expect((await runHere(["user", "list", "-n", "demo"], { env })).stderr).toBe("");
});

describe("no line of help is wider than the terminal", () => {
  test.each([["", { path: [] }], ...commands] as [string, { path: string[] }][])(
    "bodega %s -h",
    async (_name, { path }) => {
      for (const columns of [40, 200]) {
        const { code, stdout, stderr } = await runHere([...path, "-h"], { env: {}, columns });
        expect([code, stderr]).toEqual([0, ""]);
        expect(findWideLines(stdout, columns)).toEqual([]);
        expect(await runHere(["help", ...path], { env: {}, columns })).toEqual({ code, stdout, stderr });
      }
    },
  );
});

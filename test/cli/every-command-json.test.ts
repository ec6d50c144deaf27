import { describe, expect, test } from "bun:test";
import {
  type CalledCommand,
  findMissingCalls,
  fullLine,
  listCalledCommands,
  runCall,
  shareCopies,
} from "./every-command.ts";
import { readShapes, usePromisedShapes } from "./json-shapes.ts";
import { usePreparedShop } from "./prepared-shop.ts";

const copyFor = shareCopies(usePreparedShop());
const expectShape = await usePromisedShapes();
const finite = (await listCalledCommands())
  .filter(({ call }) => call.server === undefined)
  .map((called): [string, CalledCommand] => [called.name, called]);

test("command-calls.ts calls every command, and every documented JSON shape belongs to a command", async () => {
  expect(findMissingCalls()).toEqual({ missing: [], unknown: [] });
  const names = (await listCalledCommands()).map(({ name }) => name);
  expect(Object.keys(await readShapes()).filter((name) => !names.includes(name))).toEqual([]);
});

describe("standard output is one JSON value of the documented shape with --json, and one id per line with -q", () => {
  test.each(finite)("bodega %s", async (name, called) => {
    const { answer, quiet, code: expected = 0 } = called.call;
    const shop = copyFor(called);
    const line = [...fullLine(called, shop), ...(called.call.jsonArgs?.(shop) ?? []), "--json"];
    const { code, stdout, stderr } = await runCall(called, shop, line);
    expect({ code, stderr }).toEqual({ code: expected, stderr: "" });
    expect(stdout).toEndWith("\n");
    const value: unknown = JSON.parse(stdout);
    expect(Array.isArray(value) ? "list" : "value").toBe(answer);
    expectShape(name, value);

    // The list is read with --json and with -q.
    const again = answer === "list" && quiet === undefined ? shop : copyFor(called);
    const short = await runCall(called, again, [...fullLine(called, again), "-q"]);
    expect([short.code, short.stderr.replace(/^warning: .*\n/gm, "")]).toEqual([expected, ""]);
    if (quiet === null) return expect(short.stdout).toBe("");
    const lines = short.stdout.split("\n").slice(0, -1);
    if (quiet !== undefined) return expect(lines[0] ?? "").toMatch(quiet);
    expect(lines.length).toBeGreaterThan(0);
    for (const one of lines) expect(one).toMatch(/^\S+$/);
    if (!Array.isArray(value)) return;
    expect(lines.length).toBe(value.length);
    for (const [index, row] of value.entries()) {
      const values = typeof row === "string" ? [row] : Object.values(row as object).map(String);
      expect(values).toContain(lines[index] as string);
    }
  });
});

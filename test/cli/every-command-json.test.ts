import { describe, expect, test } from "bun:test";
import { type CalledCommand, findMissingCalls, fullLine, listCalledCommands, runCall } from "./every-command.ts";
import { readShapes, usePromisedShapes } from "./json-shapes.ts";
import { type PreparedShop, usePreparedShop } from "./prepared-shop.ts";
import { runHere } from "./run-here.ts";

const copyShop = usePreparedShop();
const expectShape = await usePromisedShapes();
const finite = (await listCalledCommands())
  .filter(({ call }) => call.server === undefined)
  .map((called): [string, CalledCommand] => [called.name, called]);

/** Commands that succeed without a database. */
const worksAnywhere = new Set(["doctor", "health", "version", "completion"]);

test("command-calls.ts has a call of every command", () => {
  expect(findMissingCalls()).toEqual({ missing: [], unknown: [] });
});

describe("with --json, standard output is one JSON value of the documented shape", () => {
  test.each(finite)("bodega %s", async (name, called) => {
    const shop = copyShop();
    const line = [...fullLine(called, shop), ...(called.call.jsonArgs?.(shop) ?? []), "--json"];
    const { code, stdout, stderr } = await runCall(called, shop, line);
    expect({ code, stderr }).toEqual({ code: called.call.code ?? 0, stderr: "" });
    expect(stdout).toEndWith("\n");
    const value: unknown = JSON.parse(stdout);
    expect(Array.isArray(value) ? "list" : "value").toBe(called.call.answer);
    expectShape(name, value);
  });

  test("every documented shape belongs to a command", async () => {
    const names = (await listCalledCommands()).map(({ name }) => name);
    expect(Object.keys(await readShapes()).filter((name) => !names.includes(name))).toEqual([]);
  });
});

describe("with -q standard output is one id per line", () => {
  test.each(finite)("bodega %s", async (_name, called) => {
    const { answer, quiet } = called.call;
    const shop = copyShop();
    const { code, stdout, stderr } = await runCall(called, shop, [...fullLine(called, shop), "-q"]);
    expect(code).toBe(called.call.code ?? 0);
    expect(stderr.replace(/^warning: .*\n/gm, "")).toBe("");
    if (quiet === null) return expect(stdout).toBe("");
    const lines = stdout.split("\n").slice(0, -1);
    if (quiet !== undefined) return expect(lines[0] ?? "").toMatch(quiet);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/^\S+$/);
    if (answer !== "list") return;
    const json = await runCall(called, shop, [...fullLine(called, shop), "--json"]);
    const rows = JSON.parse(json.stdout) as unknown[];
    expect(lines.length).toBe(rows.length);
    for (const [index, row] of rows.entries()) {
      const values = typeof row === "string" ? [row] : Object.values(row as object).map(String);
      expect(values).toContain(lines[index] as string);
    }
  });
});

describe("with --json a failure is one JSON error on standard error, and standard output is empty", () => {
  // A prepared shop whose database no command finds.
  let once: PreparedShop | undefined;

  test.each(finite)("bodega %s", async (_name, called) => {
    once ??= copyShop();
    const shop = once;
    const unknown = await runHere([...called.path, "--no-such-flag", "--json"], shop);
    expect([unknown.code, unknown.stdout]).toEqual([2, ""]);
    expect(JSON.parse(unknown.stderr)).toMatchObject({ error: { message: "Unknown flag --no-such-flag." } });
    // There can be no database in this directory.
    const env = { ...shop.env, BODEGA_DATA_DIR: "/dev/null/none" };
    const line = [...fullLine(called, shop), ...(called.call.jsonArgs?.(shop) ?? []), "--json"];
    const { code, stdout, stderr } = await runHere(line, { env });
    if (worksAnywhere.has(called.name)) return expect([JSON.parse(stdout), stderr]).toEqual([expect.anything(), ""]);
    expect(code).toBeGreaterThan(0);
    expect(stdout).toBe("");
    expect(Object.keys(JSON.parse(stderr))).toEqual(["error"]);
    expect(JSON.parse(stderr).error.message).toBeString();
  });
});

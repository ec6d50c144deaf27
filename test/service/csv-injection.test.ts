import { expect, test } from "bun:test";
import { guardFormula, readGuarded } from "../../src/server/values/csv-injection.ts";
import { uniform } from "../support/random.ts";

test.each([
  ["Mug", "Mug"],
  ["a-b = c; d", "a-b = c; d"],
  ["=1", "'=1"],
  ["'=1", "''=1"],
  ["'tis", "'tis"],
  ["\t=1", "'\t'=1"],
  ["\nfirst", "'\nfirst"],
  ["first\r\n\r\nlast", "first\r\n\r\nlast"],
  ["Mug;=cmd()", "Mug;'=cmd()"],
  ["Mug;;@x\t+1;'-2", "Mug;;'@x\t'+1;''-2"],
  ["list:\n- one\r\n- two\r＝3", "list:\n'- one\r\n'- two\r'＝3"],
])("%j is written as %j and read back", (text, cell) => {
  expect([guardFormula(text), readGuarded(cell)]).toEqual([cell, text]);
});

test("no part of a cell begins a formula, whatever its reader separates cells by, and every text is read back", () => {
  const random = uniform(12);
  const characters = ["=", "+", "-", "@", "＝", "'", "'", ";", ";", "\t", "\r", "\n", "a", " "];
  for (let round = 0; round < 20_000; round++) {
    const length = Math.floor(random.next().value * 12);
    const text = Array.from({ length }, () => characters[Math.floor(random.next().value * characters.length)]).join("");
    const cell = guardFormula(text);
    expect(readGuarded(cell)).toBe(text);
    for (const part of cell.split(/[;\t\r\n]/)) expect(part).not.toMatch(/^[=+\-@＝＋－＠]/);
    expect(cell).not.toMatch(/^[\t\r\n]/);
  }
});

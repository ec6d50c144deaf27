import { expect, test } from "bun:test";
import { decodeCursor, encodeCursor } from "../../src/server/pagination/list-page.ts";

const asked = ["tnt_1", "-price", "published", null];
const broken = expect.objectContaining({ code: 5100 });

test("a cursor keeps its position, for any value", () => {
  for (const value of [
    0,
    -5,
    Number.MAX_SAFE_INTEGER,
    "",
    "2030-01-15T12:00:00.000Z",
    "灯 \"'\\ \u0001",
    "x".repeat(300),
  ]) {
    const position = { value, id: "prod_1" };
    const cursor = encodeCursor(position, asked);
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(decodeCursor(cursor, asked)).toEqual(position);
  }
});

test("a cursor is valid only for its own list", () => {
  const cursor = encodeCursor({ value: 1, id: "prod_1" }, asked);
  for (const other of [
    [],
    ["tnt_2", ...asked.slice(1)],
    [...asked, 1],
    asked.toReversed(),
    ["tnt_1", "price", "published", null],
  ]) {
    expect(() => decodeCursor(cursor, other)).toThrow(broken);
  }
});

test("a cursor reveals nothing of the store", () => {
  const plain = Buffer.from(encodeCursor({ value: 1, id: "prod_1" }, asked), "base64url").toString();
  expect(plain).not.toContain("tnt_1");
  expect(plain).not.toContain("published");
});

test("an invalid cursor is 5100", () => {
  const good = encodeCursor({ value: 1, id: "prod_1" }, asked);
  const texts = [
    "",
    " ",
    "x",
    "!!!",
    "bnVsbA",
    "W10",
    good.slice(1),
    good.slice(0, -2),
    `${good}${good}`,
    "x".repeat(100_000),
  ];
  for (const text of texts) expect(() => decodeCursor(text, asked)).toThrow(broken);
});

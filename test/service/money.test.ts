import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { all, statement } from "../../src/server/db/statement.ts";
import {
  largestMinor,
  moneyDivisor,
  moneyJson,
  parseMoney,
  splitAmount,
  toAmount,
} from "../../src/server/values/money.ts";
import { openTestDatabase, type TestDatabase } from "../support/backend.ts";
import { uniform } from "../support/random.ts";

/** The largest amount in minor units, by number of decimals. */
const largestOf = (digits: number) => (digits === 0 ? 2 ** 53 - 1 : 10 ** 15 - 1);

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase("file");
});
afterAll(() => database.close());

// Formats many amounts at once, as replies write them.
const rendered = statement<{ written: string; divided: string }>(sql`
  select cast(${sql.raw(moneyJson("value", "digits"))} as text) as written,
    json_array(value / ${sql.raw(moneyDivisor("digits"))}) as divided
  from json_each(${sql.placeholder("amounts")}), (select cast(${sql.placeholder("digits")} as integer) as digits)`);

async function render(amounts: number[], digits: number): Promise<string[]> {
  const rows = await all(database.db, rendered, { amounts: JSON.stringify(amounts), digits });
  for (const { written, divided } of rows) expect(JSON.parse(divided)).toEqual([Number(written)]);
  return rows.map(({ written }) => written);
}

/** Each run has a new seed. A failure prints it, and `MONEY_SEED` repeats its amounts. */
const seed = Number(process.env.MONEY_SEED ?? Math.floor(Math.random() * 2 ** 32));
const count = Number(process.env.BODEGA_TEST_ROUNDS ?? 10_000);

/** Returns random amounts with a uniform number of digits, so that small and large ones are equally frequent. */
function randomAmounts(random: Generator<number, never>, most: number, count: number): number[] {
  return Array.from({ length: count }, () => {
    const magnitude = 10 ** (random.next().value * 16);
    return Math.min(most, Math.floor(random.next().value * magnitude));
  });
}

/** Returns the decimal text of minor units. It only moves the decimal point, without arithmetic. */
function decimalText(minor: number, digits: number): string {
  const text = String(minor).padStart(digits + 1, "0");
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

// Random amounts are parsed from JSON to minor units, and formatted by SQLite and by the program.
for (const digits of [0, 2, 3, 4]) {
  test(`${count} random prices with ${digits} decimals are converted both ways exactly`, async () => {
    const amounts = randomAmounts(uniform(seed + digits), largestOf(digits), count);
    const written = amounts.map((minor) => decimalText(minor, digits));
    const taken = written.map((text) => parseMoney("price", JSON.parse(text), digits));
    const answered = await render(taken, digits);
    const wrong = written.flatMap((text, index) => {
      const minor = taken[index] as number;
      const isExact = answered[index] === text && String(toAmount(minor, digits)) === String(Number(text));
      return isExact ? [] : [{ text, minor, answered: answered[index] }];
    });
    expect({ seed, wrong: wrong.slice(0, 5) }).toEqual({ seed, wrong: [] });
  }, 30_000);

  test(`the largest amounts with ${digits} decimals are exact, and differ from their neighbours`, async () => {
    const most = largestOf(digits);
    expect(largestMinor(digits)).toBe(most);
    const amounts = Array.from({ length: 1000 }, (_, n) => most - n);
    const written = await render(amounts, digits);
    expect(written.map((text) => parseMoney("price", JSON.parse(text), digits))).toEqual(amounts);
    expect(new Set(written.map((text) => JSON.parse(text))).size).toBe(1000);
  });
}

test("the parts of a split amount add up exactly, are never negative, and differ from their exact share by less than one unit", () => {
  const random = uniform(seed);
  const next = (most: number) => Math.floor(random.next().value * (most + 1));
  for (let round = 0; round < count; round++) {
    const weights = Array.from({ length: 1 + next(9) }, () => next(3) && next(10 ** next(15)));
    const amount = next(10 ** next(15));
    const parts = splitAmount(amount, weights);
    const said = { seed, amount, weights, parts };
    const total = weights.reduce((sum, weight) => sum + BigInt(weight), 0n);
    const sum = parts.reduce((sum, part) => sum + BigInt(part), 0n);
    expect({ ...said, sum }).toEqual({ ...said, sum: BigInt(amount) });
    if (total === 0n) continue;
    for (const [index, part] of parts.entries()) {
      // Computed in whole numbers: |part − amount × weight ÷ total| < 1.
      const off = BigInt(part) * total - BigInt(amount) * BigInt(weights[index] as number);
      if (part < 0 || off >= total || off <= -total) throw new Error(`Split unfairly: ${JSON.stringify(said)}`);
    }
  }
});

test("parts of equal weight are equal, except that the first parts get the remaining units", () => {
  expect(splitAmount(100, [1, 1, 1])).toEqual([34, 33, 33]);
  expect(splitAmount(1, [0, 5, 5])).toEqual([0, 1, 0]);
  expect(splitAmount(0, [3, 4])).toEqual([0, 0]);
  expect(splitAmount(7, [])).toEqual([]);
  expect(splitAmount(7, [0, 0])).toEqual([7, 0]);
  // The part with the largest remainder gets the remaining unit, at any position.
  expect(splitAmount(10, [1, 2, 3])).toEqual([2, 3, 5]);
  const most = largestMinor(2);
  expect(splitAmount(most, [most, most])).toEqual([Math.ceil(most / 2), Math.floor(most / 2)]);
});

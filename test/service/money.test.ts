import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { all, statement } from "../../src/server/db/statement.ts";
import { moneyJson, parseMoney } from "../../src/server/money.ts";
import { openTestDatabase, type TestDatabase } from "../support/backend.ts";

/** The largest amount, in minor units, of which every neighbour is a JSON number of its own. */
const largest: Record<number, number> = {
  0: 2 ** 53 - 1,
  1: 2 ** 49 * 10 - 1,
  2: 2 ** 46 * 100 - 1,
  3: 2 ** 43 * 1000 - 1,
};

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase("file");
});
afterAll(() => database.close());

// How replies write an amount, for many of them at once.
const rendered = statement<{ written: string }>(sql`
  select cast(${sql.raw(moneyJson("value", "digits"))} as text) as written
  from json_each(${sql.placeholder("amounts")}), (select cast(${sql.placeholder("digits")} as integer) as digits)`);

async function render(amounts: number[], digits: number): Promise<string[]> {
  const rows = await all(database.db, rendered, { amounts: JSON.stringify(amounts), digits });
  return rows.map(({ written }) => written);
}

/** The same amounts in every run: a generator of uniform numbers below 1. */
function* uniform(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

for (const digits of [0, 2, 3]) {
  test(`a hundred thousand amounts with ${digits} decimals come back as they went in`, async () => {
    const random = uniform(digits + 1);
    const most = largest[digits] as number;
    let wrong = 0;
    for (let batch = 0; batch < 10; batch++) {
      // Small and large ones alike: uniform in the number of digits.
      const amounts = Array.from({ length: 10_000 }, () => {
        const magnitude = 10 ** (random.next().value * 16);
        return Math.min(most, Math.floor(random.next().value * magnitude));
      });
      const written = await render(amounts, digits);
      for (const [index, text] of written.entries()) {
        if (parseMoney("price", JSON.parse(text), digits) !== amounts[index]) wrong += 1;
      }
    }
    expect(wrong).toBe(0);
  });

  test(`the largest amounts with ${digits} decimals come back, and neighbours stay apart`, async () => {
    const most = largest[digits] as number;
    const amounts = Array.from({ length: 1000 }, (_, n) => most - n);
    const written = await render(amounts, digits);
    expect(written.map((text) => parseMoney("price", JSON.parse(text), digits))).toEqual(amounts);
    expect(new Set(written.map((text) => JSON.parse(text))).size).toBe(1000);
  });
}

test("an amount is written plainly, with exactly its currency's decimals", async () => {
  expect(await render([0, 1, 10, 99, 100, 123_456_789_012_345], 2)).toEqual([
    "0.00",
    "0.01",
    "0.10",
    "0.99",
    "1.00",
    "1234567890123.45",
  ]);
  expect(await render([0, 5, 2 ** 53 - 1], 0)).toEqual(["0", "5", "9007199254740991"]);
  expect(await render([7, 1000], 3)).toEqual(["0.007", "1.000"]);
});

const refused: [amount: number, digits: number][] = [
  [-1, 2],
  [-0.01, 2],
  [-Number.MIN_VALUE, 2],
  [Number.NaN, 2],
  [Number.POSITIVE_INFINITY, 2],
  [Number.NEGATIVE_INFINITY, 0],
  [0.001, 2],
  [0.005, 2],
  [19.999, 2],
  [1.005, 2],
  [0.1 + 0.2, 2],
  [1e-7, 2],
  [Number.MIN_VALUE, 3],
  [0.5, 0],
  [2 ** 53, 0],
  [1e21, 0],
  [1e21, 2],
  [Number.MAX_VALUE, 2],
  [2 ** 46, 2],
  [2 ** 43, 3],
  [Number("80000000000000.01"), 2],
];

test("an amount that is negative, too fine, too large or none is refused with the field's name", () => {
  for (const [amount, digits] of refused) {
    const refusal = { code: 5102, details: [{ field: "price", message: expect.stringMatching(/\S/) }] };
    try {
      parseMoney("price", amount, digits);
      throw new Error(`${amount} was taken with ${digits} decimals`);
    } catch (error) {
      expect(error).toMatchObject(refusal);
    }
  }
});

test("zero is an amount, whatever its sign", () => {
  for (const digits of [0, 2, 3])
    expect([parseMoney("price", 0, digits), parseMoney("price", -0, digits)]).toEqual([0, 0]);
});

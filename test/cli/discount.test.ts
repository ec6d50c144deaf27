import { beforeAll, expect, test } from "bun:test";
import { openCli } from "./run-bodega.ts";

const { json, failure, here: run } = openCli();
const demo = ["-n", "demo"];

interface Discount {
  discount_id: string;
  code: string;
  uses: number;
  until: string | null;
}

const create = (code: string, ...flags: string[]) => json<Discount>("discount", "create", code, ...demo, ...flags);
const order = (code: string) =>
  json<{ discount: number }>("order", "create", ...demo, "--item", "MUG", "--discount", code);

beforeAll(async () => {
  await json("tenant", "create", "demo");
  await json("category", "create", ...demo, "--title", "Mugs");
  await json("product", "create", ...demo, "--title", "Mug", "--price", "12", "--sku", "MUG", "--category", "mugs");
  await json("product", "create", ...demo, "--title", "Book", "--price", "20", "--sku", "BOOK");
});

test("a discount code is created with limits, for categories and products given by name, and is found in upper and lower case", async () => {
  const bounds = "--minimum 10 --limit 100 --per-customer 1 --from 2026-01-01 --until 2090-01-01".split(" ");
  const made = await create("Summer10", "--percent", "10", ...bounds, "--category", "mugs", "--product", "BOOK");
  expect(made).toMatchObject({
    ...{ code: "Summer10", percent: 10, amount: null, free_shipping: false, minimum: 10, limit: 100, per_customer: 1 },
    ...{ from: "2026-01-01T00:00:00.000Z", until: "2090-01-01T00:00:00.000Z", uses: 0 },
    product_ids: [expect.stringMatching(/^prod_/)],
    category_ids: [expect.stringMatching(/^cat_/)],
  });
  expect(made).not.toHaveProperty("minimum_minor");
  expect(await order("summer10")).toMatchObject({ discount: 1.2 });
  for (const name of ["SUMMER10", "summer10", made.discount_id]) {
    expect(await json<Discount>("discount", "show", name, ...demo)).toEqual({ ...made, uses: 1 });
  }
});

test("discount list prints codes, newest first, with their discounts and uses", async () => {
  await create("FIVE", "--amount", "5");
  await create("FREIGHT", "--free-shipping");
  await order("five");
  const { stdout } = await run(["discount", "list", ...demo]);
  expect(stdout).toMatch(/^CODE +OFF +MINIMUM +USES +LIMIT +FROM +UNTIL\nFREIGHT +free shipping .*\nFIVE +5 +- +1 /);
  expect(stdout).toMatch(/^Summer10 +10 % +10 +1 +100 /m);
  expect((await run(["discount", "list", ...demo, "--limit", "1", "-q"])).stdout).toBe("FREIGHT\n");
});

test("an ended discount code is refused, and orders that used the code keep their discount", async () => {
  await create("PAST", "--percent", "50");
  await order("PAST");
  const unconfirmed = await failure("discount", "end", "PAST", ...demo);
  expect([unconfirmed.code, unconfirmed.error.remedy]).toEqual([2, "End discount code PAST?"]);
  const { until } = await json<Discount>("discount", "end", "past", ...demo, "--yes");
  expect(Date.parse(until as string)).toBeLessThanOrEqual(Date.now());
  const refused = await failure("order", "create", ...demo, "--item", "MUG", "--discount", "PAST");
  expect([refused.code, refused.error.code]).toEqual([4, 5309]);
  const [newest] = await json<object[]>("order", "list", ...demo, "--limit", "1");
  expect(newest).toMatchObject({ discount_code: "PAST", discount: 6, total: 6 });
});

test.each([
  [["create", "NEW"], 2, "Give exactly one of --percent, --amount, --free-shipping."],
  [["create", "NEW", "--percent", "101"], 2, "--percent "],
  [["create", "NEW", "--percent", "10%"], 2, "--percent must be a number"],
  [["create", "NEW", "--amount", "1.999"], 2, "--amount "],
  [["create", "NEW", "--percent", "10", "--limit", "0"], 2, "--limit "],
  [["create", "NEW", "--percent", "10", "--from", "2030-01-02", "--until", "2030-01-01"], 2, "--until "],
  [["create", "two words", "--percent", "10"], 2, "<code> "],
  [["create", "five", "--percent", "10"], 4, ""],
  [["create", "NEW", "--percent", "10", "--category", "hats"], 3, 'Category "hats" not found'],
  [["create", "NEW", "--percent", "10", "--product", "HAT"], 3, 'Product "HAT" not found'],
  [["show", "NONE"], 3, '"NONE" not found'],
] as const)("discount %j is refused", async (line, code, message) => {
  const failed = await failure("discount", ...line, ...demo);
  expect([failed.code, failed.error.message]).toEqual([code, expect.stringContaining(message)]);
});

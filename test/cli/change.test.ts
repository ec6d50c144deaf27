import { beforeAll, expect, test } from "bun:test";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import type { Actor, Ctx } from "../../src/server/context.ts";
import { createOrder, prepareOrder } from "../../src/server/modules/orders/create.ts";
import { requireTenant } from "../../src/server/modules/tenants/service.ts";
import { vault } from "../support/app.ts";
import { openCli } from "./run-bodega.ts";

const { dataDir, json, failure, here: run } = openCli();
const demo = ["-n", "demo"];

interface Product {
  product_id: string;
  slug: string;
  price: number;
  stock: number | null;
  available: number | null;
  version: number;
  variants: { id: string; sku: string | null; stock: number | null }[];
}
interface Order {
  order_id: string;
  number: number;
  status: string;
  payment_status: string;
  payment_reference: string | null;
  refunded: number;
  items: { id: string }[];
}

const show = (name: string) => json<Product>("product", "show", name, ...demo);
const stock = (...args: string[]) => json<Product>("product", "stock", ...args, ...demo);
const order = (verb: string, number: string, ...args: string[]) => json<Order>("order", verb, number, ...args, ...demo);

const terminal: Actor = { kind: "terminal", account: "ada" };

/** Orders items of a product as a guest. Returns the number of the order. */
async function reserve(product_id: string, quantity: number, actor = terminal, store = "demo"): Promise<string> {
  const db = await openStoreDatabase({ dataDir });
  const system = { db, actor, vault, requestId: "test", now: Date.now };
  const ctx = { ...system, tenant: await requireTenant(system, store) } as Ctx;
  const { json: text } = await createOrder(ctx, await prepareOrder(ctx, { items: [{ product_id, quantity }] }));
  await db.close();
  return String((JSON.parse(text) as Order).number);
}

beforeAll(async () => {
  await json("tenant", "create", "demo", "--currency", "EUR");
});

test.each([
  [["create", "--title", "A", "--price", "1.000"], 2, "--price is ambiguous. Write 1000 or 1.00"],
  [["update", "POT", "--price", "12.500"], 2, "--price is ambiguous. Write 12500 or 12.50"],
  [["update", "POT", "--price", "12.505"], 2, "Write 12505 or 12.5050 in a currency with three decimals"],
  [["create", "--title", " ", "--price", "1"], 2, "--title must not be blank"],
  [["update", "nothing", "--price", "1"], 3, 'Product "nothing" not found'],
  [["update", "nothing"], 2, "Give at least one of --title, --price"],
  [["stock", "nothing", "5"], 2, "must be a number with a sign, such as +5, -2 or =10"],
] as const)("product %j is refused", async (args, code, message) => {
  const failed = await failure("product", ...args, ...demo);
  expect([failed.code, failed.error.message]).toEqual([code, expect.stringContaining(message)]);
});

test("product stock adds, removes and sets stock, but does not remove stock that orders reserve", async () => {
  const { product_id } = await json<Product>(
    ...["product", "create", ...demo, "--title", "Mug", "--price", "4", "--sku", "MUG"],
  );
  const uncounted = await failure("product", "stock", "MUG", "+5", ...demo);
  expect([uncounted.code, uncounted.error.message]).toEqual([2, expect.stringContaining("not counted yet")]);
  expect(await stock("MUG", "=10")).toMatchObject({ product_id, stock: 10, available: 10, version: 2 });
  expect(await stock(product_id, "-2")).toMatchObject({ stock: 8, version: 3 });
  expect(await stock("-12", "mug").catch(String)).toContain("<change>");
  expect(await show("mug")).toMatchObject({ stock: 8, version: 3 });
  await reserve(product_id, 3);
  const failed = await failure("product", "stock", "mug", "-6", ...demo);
  expect([failed.code, failed.error.message]).toEqual([
    2,
    expect.stringContaining("5 pieces are not reserved by orders"),
  ]);
  expect(await stock("mug", "-5")).toMatchObject({ stock: 3, available: 0 });
  expect(await stock("mug", "=1")).toMatchObject({ stock: 1, available: -2 });
  expect((await failure("product", "stock", "mug", "+1000000000000", ...demo)).code).toBe(2);
});

test("the stock of a variant is changed by its SKU or id", async () => {
  const input =
    '{"title":"Shirt","price":9,"variants":[{"sku":"S-S","options":{"size":"S"},"stock":1},{"sku":"S-M","options":{"size":"M"},"stock":2}]}';
  await run(["product", "import", "-", "--format", "ndjson", ...demo], { input });
  const { variants, version } = await stock("S-M", "+5");
  expect([variants.map((variant) => variant.stock), version]).toEqual([[1, 7], (await show("shirt")).version]);
  expect(await stock(variants[0]?.id as string, "-1")).toMatchObject({ stock: 7 });
  const failed = await failure("product", "stock", "shirt", "+1", ...demo);
  expect([failed.code, failed.error.message]).toEqual([2, "<product> has variants. Name one of them by its id or SKU"]);
});

test("an order is paid, fulfilled and refunded, and the stock changes accordingly", async () => {
  const lamp = ["--title", "Lamp", "--price", "10", "--sku", "LAMP", "--stock", "9"];
  const { product_id } = await json<Product>("product", "create", ...demo, ...lamp);
  const number = await reserve(product_id, 3);
  expect(await order("pay", number, "--dry-run")).toMatchObject({ status: "paid" });
  expect(await order("show", number)).toMatchObject({ status: "pending" });
  expect(await failure("order", "pay", number, ...demo)).toMatchObject({ code: 2 });
  const paid = await order("pay", number, "--payment-reference", "bank-1", "--yes");
  expect(paid).toMatchObject({ status: "paid", payment_status: "paid", payment_reference: "bank-1" });
  expect(await show("LAMP")).toMatchObject({ stock: 6, available: 6 });
  expect(await failure("order", "cancel", number, "--yes", ...demo)).toMatchObject({ code: 4 });
  expect(await order("fulfill", paid.order_id, "--yes")).toMatchObject({ status: "completed" });
  const one = ["--line", "lamp:1", "--restock", "--reason", "broken"];
  expect(await order("refund", number, ...one, "--returned", "--dry-run")).toMatchObject({ refunded: 10 });
  expect(await order("refund", number, ...one, "--returned", "--yes")).toMatchObject({
    payment_status: "partially_refunded",
    refunded: 10,
  });
  expect(await show("LAMP")).toMatchObject({ stock: 7 });
  const wrong = await failure("order", "refund", number, "--line", "MUG", "--yes", ...demo);
  expect([wrong.code, wrong.error.message]).toEqual([2, expect.stringContaining("names no line of the order")]);
  const many = await failure("order", "refund", number, "--line", "LAMP:3", "--returned", "--yes", ...demo);
  expect([many.code, many.error.message]).toEqual([4, "--line is 3, but 2 of LAMP that were sent can be refunded"]);
  expect(await order("refund", number, "--line", paid.items[0]?.id as string, "--returned", "--yes")).toMatchObject({
    payment_status: "refunded",
    refunded: 30,
  });
});

test("order cancel --buyer accepts the buyers that order list shows, and refuses others; a dry run says that it saves nothing", async () => {
  await json("tenant", "create", "hoard");
  const store = ["-n", "hoard"];
  const { product_id } = await json<Product>("product", "create", ...store, "--title", "Cup", "--price", "1");
  const { user_id: userId } = await json<{ user_id: string }>(
    ..."user create --no-password --email eve@example.com".split(" "),
    ...store,
  );
  await reserve(product_id, 1, terminal, "hoard");
  await reserve(product_id, 1, { kind: "user", role: "customer", userId }, "hoard");
  await reserve(
    product_id,
    1,
    { kind: "app", appId: "app_1", scopes: new Set(["orders:write"]), isWeb: true },
    "hoard",
  );
  const list = ["order", "list", ...store, "--by", "buyer"];
  const table = (await run(list)).stdout.trimEnd().split("\n").slice(1);
  const shown = table.map((line) => line.split(/ {2,}/)[0] as string);
  const [hashed, named] = [shown.filter((name) => /^[\w-]{32}$/.test(name)), shown.filter((name) => name.length < 32)];
  expect([hashed.length, named.toSorted()]).toEqual([1, ["eve@example.com", "staff"]]);
  const cancel = ["order", "cancel", ...store, "--buyer"];
  const dry = await run([...cancel, "staff", "--dry-run"]);
  expect([dry.stdout, dry.stderr]).toEqual([expect.stringMatching(/^Cancelled +1$/m), "Dry run: nothing was saved.\n"]);
  for (const buyer of shown)
    expect((await json<{ cancelled: number[] }>(...cancel, buyer, "--yes")).cancelled).toHaveLength(1);
  expect(await json<unknown[]>(...list)).toEqual([]);
  const unknown = await failure(...cancel, "guest", "--yes");
  expect([unknown.code, unknown.error.message]).toEqual([3, 'Buyer "guest" not found in the unpaid orders.']);
  expect(unknown.error.remedy).toContain("bodega order list -n hoard --by buyer");
});

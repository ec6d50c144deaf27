import { beforeAll, expect, test } from "bun:test";
import { openCli } from "./run-bodega.ts";

const { json, failure, here } = openCli();
const demo = ["-n", "demo"];

interface Todo {
  kind: string;
  subject: string;
  detail: string | null;
  count: number | null;
  next: string;
}

const order = (...flags: string[]) => json<{ number: number }>("order", "create", ...demo, "--item", "MUG:2", ...flags);
const todo = async () =>
  (await json<Todo[]>("todo", ...demo)).map(({ kind, subject, detail, count }) => [kind, subject, detail, count]);

beforeAll(async () => {
  await json("tenant", "create", "demo", "--timezone", "Europe/Berlin", "--low-stock-at", "3");
  await json("tenant", "create", "other");
  await json("product", "create", ...demo, "--title", "Mug", "--price", "12", "--sku", "MUG", "--stock", "20");
});

test("todo lists work of each kind, with the command that does it", async () => {
  expect(await todo()).toEqual([]);
  expect((await here(["todo", ...demo])).stderr).toBe("Nothing to do.\n");
  const { number } = await order("--payment-method", "manual");
  expect(await todo()).toEqual([["unpaid_transfer", String(number), "24.00 EUR", null]]);
  const [{ next }] = (await json<Todo[]>("todo", ...demo)) as [Todo];
  expect(next).toBe(`bodega order pay ${number} -n demo`);
  await json(...next.split(" ").slice(1), "--amount", "30", "--yes");
  expect(await todo()).toEqual([
    ["to_ship", String(number), null, 2],
    ["attention", String(number), "overpaid", null],
  ]);
  await json("order", "fulfill", String(number), ...demo, "--yes");
  await json("order", "accept", String(number), ...demo);
  await json("product", "stock", "MUG", "=3", ...demo);
  await json("product", "create", ...demo, "--title", "Cup", "--slug", "cup", "--price", "9");
  await json("api", "POST", "/products/cup/variants/", ...demo, "-f", "title=Blue", "-F", "stock=2");
  expect(await todo()).toEqual([
    ["low_stock", "MUG", "Mug", 3],
    ["low_stock", "cup", "Cup (Blue)", 2],
  ]);
  const { stdout } = await here(["todo", ...demo]);
  expect(stdout).toMatch(/^NEXT +KIND +DETAIL +SINCE\nbodega product show MUG -n demo .* low stock +Mug: 3 /);
  await json("product", "stock", "MUG", "=20", ...demo);
  expect(await json<Todo[]>("todo", "-n", "other")).toEqual([]);
});

test("reports are printed as tables, JSON, or CSV in which no text is a formula", async () => {
  const sale = ["-n", "sale"];
  await json("tenant", "create", "sale");
  await json("product", "create", ...sale, "--title", "=Mug", "--price", "12", "--sku", "MUG");
  const { number } = await json<{ number: number }>("order", "create", ...sale, "--item", "MUG:2");
  await json("order", "pay", String(number), ...sale, "--amount", "30", "--yes");
  const sold = await json<Record<string, unknown>[]>("report", "sales", ...sale, "--by", "day");
  expect(sold).toMatchObject([{ orders: 1, pieces: 2, sold: 24, returned: 0, received: 30, refunded: 0 }]);
  const { stdout } = await here(["report", "products", ...sale, "--since", "1h", "--csv"]);
  const [header, row] = stdout.split("\n");
  expect(header).toBe("product_id,variant_id,title,sku,currency,sold_pieces,sold,returned_pieces,returned");
  expect(row).toMatch(/^prod_\w{26},,'=Mug,MUG,EUR,2,24.00,0,0.00$/);
  expect((await here(["report", "tax", ...sale, "--csv"])).stdout).toMatch(/^period,country,.*\n\d{4}-\d\d,,/);
  expect((await here(["report", "customers", ...sale])).stdout).toMatch(/^CUSTOMER +.*\nguest /);
  expect((await here(["report", "sales", "-n", "other", "--csv"])).stdout).toMatch(/^period,[a-z_,]+\n$/);
  const { error } = await failure("report", "sales", ...sale, "--since", "soon");
  expect(error.message).toContain("--since must be");
});

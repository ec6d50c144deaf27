import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import type { Ctx } from "../../src/server/context.ts";
import type { Database } from "../../src/server/db/session.ts";
import { createProduct } from "../../src/server/modules/catalogue/products/service.ts";
import { createOrder, prepareOrder } from "../../src/server/modules/orders/create.ts";
import type { OrderInput } from "../../src/server/modules/orders/model.ts";
import { payOrder } from "../../src/server/modules/orders/payments.ts";
import { refundOrder } from "../../src/server/modules/orders/refund.ts";
import { requireTenant } from "../../src/server/modules/tenants/service.ts";
import { readGuarded } from "../../src/server/values/csv-injection.ts";
import { vault } from "../support/app.ts";
import type { OrderReply } from "../support/orders.ts";
import { command, makeDir, openCli, runProgram } from "./run-bodega.ts";

type OrderRecord = Omit<OrderReply, "id"> & { order_id: string };

const { dataDir, environment, json, failure, here: run } = openCli();
const start = Date.UTC(2030, 0, 1);
const hour = 3_600_000;
const many = 300;
const title = '=HYPERLINK("https://example.com")';
let db: Database;
let demo: Ctx;
let ada: string;

/** Opens a shop whose orders are placed an hour apart, beginning in 2030. */
async function openShop(namespace: string): Promise<Ctx> {
  let made = 0;
  const system = { db, actor: { kind: "terminal" as const }, vault, requestId: "test" };
  const tenant = await requireTenant({ ...system, now: Date.now }, namespace);
  return { ...system, tenant, now: () => start + Math.floor(made++ / 1000) * hour };
}

const at = (ctx: Ctx, ms: number): Ctx => ({ ...ctx, now: () => ms });

async function makeProduct(
  ctx: Ctx,
  fields: { title: string; price: number; sku?: string; stock?: number },
): Promise<string> {
  const { json: text } = await createProduct(ctx, { status: "published", ...fields });
  return (JSON.parse(text) as { id: string }).id;
}

async function makeOrder(ctx: Ctx, ms: number, input: OrderInput): Promise<OrderReply> {
  return JSON.parse((await createOrder(at(ctx, ms), await prepareOrder(at(ctx, ms), input))).json) as OrderReply;
}

let orders: OrderReply[];

beforeAll(async () => {
  for (const [namespace, currency] of [
    ["demo", "EUR"],
    ["yen", "JPY"],
    ["dinar", "KWD"],
    ["many", "EUR"],
    ["empty", "EUR"],
  ]) {
    await json("tenant", "create", namespace as string, "--currency", currency as string);
  }
  ada = (await json<{ user_id: string }>("user", "create", "-n", "demo", "--email", "ada@example.com", "--no-password"))
    .user_id;
  db = await openStoreDatabase({ dataDir });
  demo = await openShop("demo");
  const lamp = await makeProduct(demo, { title, price: 19.9, sku: "+1", stock: 9 });
  const chair = await makeProduct(demo, { title: 'Chair, "old"', price: 5 });
  orders = [
    await makeOrder(demo, start, {
      items: [
        { product_id: lamp, quantity: 2 },
        { product_id: chair, quantity: 1 },
      ],
      customer_id: ada,
      shipping: 4.5,
      tax: 1.01,
      shipping_address: { name: "Ada", line1: "-1 Street", city: "Zürich", country: "CH", phone: "+41441234567" },
      phone: "+493012345",
      billing_address: {
        name: "Eve",
        company: "Eve GmbH",
        line1: "2 Street",
        city: "Bern",
        country: "CH",
        vat_id: "CHE1",
      },
      note: '\'=1, "2"\nlast',
    }),
    await makeOrder(demo, start + hour, { items: [{ product_id: lamp, quantity: 1 }] }),
    await makeOrder(demo, start + 48 * hour, { items: [{ product_id: chair, quantity: 3 }], customer_id: ada }),
  ];
  const [first] = orders as [OrderReply];
  await payOrder(at(demo, start + 60_000), first.id, { payment_reference: "pay-1" });
  const refund = { lines: [{ line_id: first.items[0]?.id as string, quantity: 1 }], reason: "@broken", restock: true };
  await refundOrder(at(demo, start + 120_000), first.id, refund);
});

afterAll(() => db.close());

const list = async (...flags: string[]) =>
  (await json<OrderRecord[]>("order", "list", "-n", "demo", ...flags)).map(({ number }) => number);

describe("order list", () => {
  test("order list is a table for people, newest first", async () => {
    const { stdout, stderr } = await run(["order", "list", "-n", "demo"]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^NUMBER +STATUS +PAYMENT +TOTAL +CUSTOMER +ITEMS +CREATED$/);
    const age = expect.stringMatching(/^in \d+ days$|^\d+ days ago$/);
    expect(lines.slice(1).map((line) => line.split(/ {2,}/))).toEqual([
      ["3", "pending", "unpaid", "15.00 EUR", "ada@example.com", "3", age],
      ["2", "pending", "unpaid", "19.90 EUR", "guest", "1", age],
      ["1", "paid", "partially_refunded", "50.31 EUR", "ada@example.com", "3", age],
    ]);
    expect(stderr).toBe("");
  });

  test("order list says if there may be more orders", async () => {
    expect((await run(["order", "list", "-n", "demo", "--limit", "2"])).stderr).toContain(
      "The list ends at the limit of 2 rows.",
    );
    expect((await run(["order", "list", "-n", "demo", "--limit", "4"])).stderr).toBe("");
    expect((await run(["order", "list", "-n", "empty"])).stderr).toBe("No orders found.\n");
  });

  test.concurrent.each<[flags: string, numbers: number[]]>([
    ["--status pending", [3, 2]],
    ["--payment-status partially_refunded", [1]],
    ["--customer ADA@example.com", [3, 1]],
    ["--since 2030-01-01T01:00:00Z", [3, 2]],
    ["--until 2030-01-02", [2, 1]],
    ["--since 2030-01-01 --until 2030-01-01T01:00:00Z", [1]],
    ["--until 7d", []],
    ["--customer usr_nobody", []],
  ])("%s filters orders", async (flags, numbers) => {
    expect(await list(...flags.split(" "))).toEqual(numbers);
  });

  test("order list shows how many items each buyer reserves without having paid", async () => {
    const { stdout } = await run(["order", "list", "-n", "demo", "--by", "buyer"]);
    const rows = stdout.trimEnd().split("\n");
    expect(rows[0]).toMatch(/^BUYER +ORDERS +PIECES +SINCE +EXPIRES/);
    expect(rows.slice(1).map((line) => line.split(/ {2,}/).slice(0, 3))).toEqual([
      ["ada@example.com", "1", "3"],
      ["staff", "1", "1"],
    ]);
    expect(await list("--status", "pending")).toEqual([3, 2]);
  });

  test("order list --json prints the orders of the API, with the id as order_id", async () => {
    const [record] = await json<OrderRecord[]>("order", "list", "-n", "demo", "--limit", "1");
    const { id, ...rest } = orders[2] as OrderReply;
    expect(record as unknown).toEqual({ order_id: id, ...rest });
  });
});

describe("order show", () => {
  test("order show finds an order by number and by id", async () => {
    const record = await json<OrderRecord>("order", "show", "-n", "demo", "1");
    expect(record).toMatchObject({ order_id: orders[0]?.id, email: "ada@example.com", refunded: 20.35 });
    expect(await json("order", "show", "-n", "demo", record.order_id)).toEqual({ ...record });
  });

  test("order show prints lines, amounts, refunds, address and points", async () => {
    const { stdout } = await run(["order", "show", "-n", "demo", "1"]);
    for (const part of [
      /^Total +50\.31 EUR$/m,
      /^Shipping +4\.50 EUR$/m,
      /^Shipping address +Ada, -1 Street, Zürich, CH, \+41441234567$/m,
      /^Points earned +\d+$/m,
      /^Payment reference +pay-1$/m,
      /^LINE ID .*REFUNDED +RESTOCKED$/m,
      /^line_\S+ +=HYPERLINK.* +\+1 +19\.90 EUR +2 .* 1$/m,
      /^ref_\S+ +succeeded +20\.35 EUR +1 +@broken /m,
    ]) {
      expect(stdout).toMatch(part);
    }
    expect(stdout).toContain('Chair, "old"');
  });

  test("order show shows the time of expiry only of a pending order", async () => {
    const show = async (number: string) => (await run(["order", "show", "-n", "demo", number])).stdout;
    expect(await show("2")).toMatch(/^Expires at +\S/m);
    expect(await show("1")).not.toContain("Expires at");
    expect(await json("order", "show", "-n", "demo", "1")).toHaveProperty("expires_at");
  });
});

test("amounts have the decimals of their currency", async () => {
  for (const [namespace, price, total, cell] of [
    ["yen", 1500, "1500 JPY", "1500"],
    ["dinar", 1.5, "1.500 KWD", "1.500"],
  ] as const) {
    const shop = await openShop(namespace);
    const product_id = await makeProduct(shop, { title: "Lamp", price });
    await makeOrder(shop, start, { items: [{ product_id, quantity: 1 }] });
    expect((await run(["order", "list", "-n", namespace])).stdout).toContain(` ${total} `);
    const [row] = readCsv((await run(["order", "export", "-n", namespace])).stdout);
    expect(row).toMatchObject({
      total: cell,
      line_price: cell,
      refunded: cell.replace(/\d/g, "0").replace(/^0+/, "0"),
    });
  }
});

function readCsv(text: string): Record<string, string>[] {
  return parse(text, { columns: true });
}

describe("order export", () => {
  test("order export as CSV has a row for each line, oldest first, and its values can be read back exactly", async () => {
    const { stdout, stderr, code } = await run(["order", "export", "-n", "demo"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const rows = readCsv(stdout);
    expect(rows.map((row) => [row.number, readGuarded(row.line_title as string), row.line_quantity])).toEqual(
      orders.flatMap(({ number, items }) => items.map((line) => [`${number}`, line.title, `${line.quantity}`])),
    );
    expect(rows[0]).toMatchObject({
      order_id: orders[0]?.id,
      email: "ada@example.com",
      subtotal: "44.80",
      shipping: "4.50",
      total: "50.31",
      payment_status: "partially_refunded",
      line_total: "40.70",
      line_price: "19.90",
    });
    expect(rows[0]).toMatchObject({ phone: "'+493012345", bill_company: "Eve GmbH", bill_vat_id: "CHE1" });
    expect(rows[2]).toMatchObject({ customer_id: "", ship_city: "", payment_reference: "" });
  });

  test("no cell of an exported CSV file can be run as a formula by a spreadsheet", async () => {
    const { stdout } = await run(["order", "export", "-n", "demo"]);
    const [row] = readCsv(stdout);
    expect(row).toMatchObject({
      line_title: `'${title}`,
      line_sku: "'+1",
      ship_line1: "'-1 Street",
      ship_phone: "'+41441234567",
      note: "''=1, \"2\"\nlast",
    });
  });

  test("order export as NDJSON has complete orders, as in the API", async () => {
    const { stdout } = await run(["order", "export", "-n", "demo", "--format", "ndjson", "--status", "pending"]);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as OrderReply),
    ).toEqual(orders.slice(1));
  });
});

describe("an exported file", () => {
  test("an exported file appears only when it is complete, is readable only by its owner, and is reported", async () => {
    const dir = makeDir();
    const file = join(dir, "orders.csv");
    expect(await json("order", "export", "-n", "demo", "--output", file)).toEqual({
      exported: 3,
      format: "csv",
      output: file,
    });
    expect(readCsv(readFileSync(file, "utf8"))).toHaveLength(4);
    expect(readdirSync(dir)).toEqual(["orders.csv"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("an exported file replaces another file only after confirmation, and not if the export fails", async () => {
    const dir = makeDir();
    const file = join(dir, "orders.csv");
    writeFileSync(file, "mine");
    expect(await failure("order", "export", "-n", "demo", "-o", file)).toMatchObject({ code: 2 });
    expect(await failure("order", "export", "-n", "nobody", "-o", file, "--yes")).toMatchObject({ code: 3 });
    expect(readFileSync(file, "utf8")).toBe("mine");
    await json("order", "export", "-n", "demo", "-o", file, "--yes", "--format", "ndjson");
    expect(readFileSync(file, "utf8").trimEnd().split("\n")).toHaveLength(3);
    expect(readdirSync(dir)).toEqual(["orders.csv"]);
  });

  test("an exported file is reported with its number of orders", async () => {
    const file = join(makeDir(), "orders.csv");
    const { stderr } = await run(`order export -n demo -o ${file} --payment-status partially_refunded`.split(" "));
    expect(stderr).toBe(`Exported 1 order to ${file}\n`);
  });

  test("an exported file that cannot be written causes an error, and an export never replaces a device file", async () => {
    const { code, error } = await failure("order", "export", "-n", "demo", "-o", "/dev/full");
    expect({ code, message: error.message }).toEqual({ code: 1, message: "/dev/full could not be written (ENOSPC)." });
    expect(statSync("/dev/full").isCharacterDevice()).toBe(true);
  });
});

describe("an export of several pages of orders", () => {
  beforeAll(async () => {
    const shop = await openShop("many");
    const product_id = await makeProduct(shop, { title: "Lamp", price: 1 });
    for (let made = 0; made < many; made += 100) {
      // A hundred orders have the same time, so only their ids determine their sequence.
      const one = () => makeOrder(shop, start + made, { items: [{ product_id, quantity: 1 }] });
      await Promise.all(Array.from({ length: 100 }, one));
    }
  }, 20_000);

  test("an export of several pages of orders contains each order once", async () => {
    const { stdout } = await run(["order", "export", "-n", "many"]);
    const rows = readCsv(stdout);
    expect(new Set(rows.map(({ number }) => number)).size).toBe(many);
    const keys = rows.map(({ created_at, order_id }) => `${created_at} ${order_id}`);
    expect(keys).toEqual(keys.toSorted());
    expect(rows).toHaveLength(many);
    expect(await json<unknown[]>("order", "list", "-n", "many", "--limit", "299")).toHaveLength(299);
  });

  test("an export to a closed pipe stops without an error", async () => {
    const line = [...command, "order", "export", "-n", "many"];
    const script = '{ "$@"; echo "code $?" >&2; } | head -n 1';
    const { stdout, stderr } = await runProgram(["sh", "-c", script, "sh", ...line], { env: environment() });
    expect(stdout).toStartWith("order_id,number,");
    expect(stderr).toBe("code 0\n");
  });
});

test.concurrent.each([
  [["list", "-n", "nobody"], 3],
  [["list", "-n", "demo", "--customer", "nobody@example.com"], 3],
  [["list", "-n", "demo", "--limit", "0"], 2],
  [["list", "-n", "demo", "--since", "yesterday"], 2],
  [["list"], 2],
  [["show", "-n", "demo", "4"], 3],
  [["show", "-n", "demo", "ord_01k8z3v5x2f1rt9m6q7wbn4hcd"], 3],
  [["show", "-n", "empty", "1"], 3],
  [["export", "-n", "demo"], 2],
  [["export", "-n", "demo", "--output", "/nowhere/at/all"], 2],
  [["export", "-n", "demo", "--output", "/"], 2],
])("order %j ends with exit code %d", async (line, code) => {
  expect(await failure("order", ...line)).toMatchObject({ code });
});

test("an error about an order contains the number as it was typed", async () => {
  const { error } = await failure("order", "cancel", "-n", "demo", "1", "--yes");
  expect(error.message).toStartWith("Order 1 is paid. Only ");
});

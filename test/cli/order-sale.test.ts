import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transferReference } from "../../src/server/modules/orders/transfer-reference.ts";
import type { OrderReply } from "../support/orders.ts";
import { makeDir, openCli } from "./run-bodega.ts";

const { json, failure, here: run } = openCli();
const demo = ["-n", "demo"];
const berlin = ["--name", "Ada Lovelace", "--line1", "1 Street", "--city", "Berlin", "--postal-code", "10115"];
const toBerlin = [...berlin, "--shipping-rate", "standard"];

interface Order extends Omit<OrderReply, "id" | "number" | "shipping_address"> {
  order_id: string;
  number: number | null;
  shipping_address: { country: string };
}

const create = (...flags: string[]) => json<Order>("order", "create", ...demo, ...flags);
const order = (verb: string, of: Order, ...flags: string[]) =>
  json<Order>("order", verb, String(of.number), ...flags, ...demo);
const refused = async (...line: string[]) => {
  const { code, error } = await failure("order", ...line, ...demo);
  return [code, error.message, error.remedy ?? ""];
};
const shown = async (of: Order) => (await run(["order", "show", String(of.number), ...demo])).stdout;

beforeAll(async () => {
  await json("tenant", "create", "demo", "--country", "DE", "--transfer-hold", "7d");
  await json("product", "create", ...demo, "--title", "Mug", "--price", "11.90", "--sku", "MUG", "--stock", "90");
  await json("product", "create", ...demo, "--title", "Book", "--price", "10.70", "--sku", "BOOK");
  await json("user", "create", ...demo, "--email", "ada@example.com", "--no-password");
  const dir = makeDir();
  const rates = "zone,countries,name,price\nGermany,DE,Standard,5.95\nGermany,DE,Express,11.90\n";
  writeFileSync(join(dir, "rates.csv"), rates);
  writeFileSync(join(dir, "taxes.csv"), "class,country,rate\nstandard,DE,19\n");
  await json("shipping", "set", ...demo, join(dir, "rates.csv"));
  await json("tax", "set", ...demo, join(dir, "taxes.csv"));
  await json("discount", "create", "TEN", ...demo, "--percent", "10");
});

describe("order create", () => {
  test("order create computes prices and taxes and reserves stock as for a visitor, and finds items, rate and customer by name", async () => {
    const placed = await create("--item", "mug:2", "--item", "BOOK", "--customer", "ADA@example.com", ...toBerlin);
    expect(placed).toMatchObject({
      ...{ status: "pending", email: "ada@example.com" },
      ...{ subtotal: 34.5, shipping: 5.95, total: 40.45, tax: 6.46, due: 40.45 },
      shipping_address: { name: "Ada Lovelace", country: "DE", postal_code: "10115" },
      shipping_rate: { name: "Standard" },
    });
    expect(placed.items.map(({ sku, quantity }) => [sku, quantity])).toEqual([
      ["MUG", 2],
      ["BOOK", 1],
    ]);
    expect(await json("product", "show", "MUG", ...demo)).toMatchObject({ available: 88 });
  });

  test("order create places nothing in a dry run, and lists the shipping rates that apply", async () => {
    const before = await json<Order[]>("order", "list", ...demo);
    const dry = await create("--item", "MUG", ...berlin, "--payment-method", "manual", "--dry-run");
    expect(dry).toMatchObject({ number: null, transfer_reference: null, total: 11.9 });
    expect(dry.shipping_rates?.map(({ name, price }) => [name, price])).toEqual([
      ["Standard", 5.95],
      ["Express", 11.9],
    ]);
    const { stdout, stderr } = await run(["order", "create", ...demo, "--item", "MUG", ...berlin, "--dry-run"]);
    expect(stdout).toMatch(/^SHIPPING RATE +PRICE +ZONE +ID\nStandard +5\.95 EUR +Germany +ship_/m);
    expect(stderr).toBe("Dry run: nothing was saved.\n");
    const whole = ["--item", "MUG", ...toBerlin, "--discount", "ten", "--dry-run"];
    expect(await create(...whole)).toMatchObject({ discount_code: "TEN", discount_minor: 119, total: 16.66 });
    expect(await json<Order[]>("order", "list", ...demo)).toHaveLength(before.length);
  });

  test("order create reserves stock for the time that store, payment method or flag set", async () => {
    const hours = async (...flags: string[]) => {
      const { created_at, expires_at } = await create("--item", "MUG", ...toBerlin, ...flags);
      return (Date.parse(expires_at) - Date.parse(created_at)) / 3_600_000;
    };
    expect(await hours()).toBe(1);
    expect(await hours("--payment-method", "manual")).toBe(168);
    expect(await hours("--payment-method", "manual", "--hold", "90m")).toBe(1.5);
  });

  test.each([
    [["--item", "nothing", ...toBerlin], 3, 'Product "nothing" not found', ""],
    [["--item", "MUG", ...berlin], 2, "--shipping-rate is required.", "Standard (5.95 EUR), Express (11.90 EUR)"],
    [["--item", "MUG", ...berlin, "--shipping-rate", "Free"], 2, "names no rate that applies.", "Standard (5.95 EUR)"],
    [["--item", "MUG"], 2, "--line1 is required with the rest of the address", ""],
    [["--item", "MUG", "--city", "Berlin"], 2, "--line1 is required in an address", ""],
    [["--item", "MUG", ...toBerlin, "--country", "Germany"], 2, "--country must be a two-letter country code", ""],
    [["--item", "MUG", ...toBerlin, "--email", "nobody"], 2, "--email must be", ""],
    [["--item", "MUG", ...toBerlin, "--hold", "31d"], 2, "--hold must be", ""],
    [["--item", "MUG", ...toBerlin, "--customer", "eve@example.com"], 3, "", ""],
    [[...toBerlin], 2, "Missing --item.", ""],
  ] as const)("%j is refused", async (flags, code, message, remedy) => {
    expect(await refused("create", ...flags)).toEqual([
      ...[code, expect.stringContaining(message), expect.stringContaining(remedy)],
    ]);
  });
});

describe("a bank transfer", () => {
  test("a bank transfer is booked on the order with its reference; partial payments are booked with their times, each only once", async () => {
    const placed = await create("--item", "MUG:2", ...toBerlin, "--payment-method", "manual");
    expect(placed.transfer_reference).toMatch(/^RF\d\d\d+$/);
    const reference = placed.transfer_reference as string;
    const spaced = reference.toLowerCase().replace(/(.{4})/g, "$1 ");
    const pay = (...flags: string[]) => json<Order>("order", "pay", spaced, ...demo, "--yes", ...flags);
    const first = await pay("--amount", "20", "--payment-reference", "bank-1", "--received-at", "2026-11-01");
    expect(first).toMatchObject({ order_id: placed.order_id, status: "pending", payment_status: "partially_paid" });
    expect(first).toMatchObject({ received: 20, due: 9.75, payments: [{ received_at: "2026-11-01T00:00:00.000Z" }] });
    expect(await pay("--amount", "20", "--payment-reference", "bank-1")).toMatchObject({ received: 20 });
    const question = await refused("pay", reference);
    expect(question[2]).toStartWith(`Book a payment of 9.75 EUR for order ${placed.number} of guest (29.75 EUR)?`);
    expect(await pay("--payment-reference", "bank-2")).toMatchObject({ status: "paid", due: 0 });
    expect(await shown(placed)).toMatch(/^PAYMENT ID +AMOUNT .*\npay_\S+ +20\.00 EUR +manual +bank-1 +\S+/m);
    const [code, message] = await refused("pay", reference, "--yes");
    expect([code, message]).toEqual([4, `Nothing is due for order ${placed.number}.`]);
  });

  test("a bank transfer with a wrong reference, amount or time is refused, and the error names the wrong value", async () => {
    const placed = await create("--item", "MUG", ...toBerlin, "--payment-method", "manual");
    const reference = placed.transfer_reference as string;
    const wrong = reference.slice(0, -1) + ((Number(reference.at(-1)) + 1) % 10);
    expect(await refused("pay", wrong, "--yes")).toEqual([2, expect.stringContaining("wrong check digits"), ""]);
    expect(await refused("pay", transferReference(99_999), "--yes")).toEqual([
      3,
      'Order "RF2699999" not found in store "demo".',
      expect.any(String),
    ]);
    const pay = (...flags: string[]) => refused("pay", reference, "--yes", ...flags);
    expect(await pay("--amount", "0")).toEqual([2, "--amount must be above zero", ""]);
    expect(await pay("--received-at", "2090-01-01")).toEqual([2, "--received-at must be a past time or day", ""]);
    expect(await pay("--payment-reference", "bank-1")).toEqual([
      4,
      "--payment-reference belongs to another order",
      expect.any(String),
    ]);
  });
});

test("an order is sent in two parcels with tracking, and a returned item is refunded", async () => {
  const placed = await create("--item", "MUG:2", "--item", "BOOK", ...toBerlin);
  await order("pay", placed, "--yes");
  expect(await refused("fulfill", String(placed.number), "--line", "MUG:3", "--yes")).toEqual([
    ...[4, "--line is 3, but 2 of MUG are left to fulfill", ""],
  ]);
  const url = await refused("fulfill", String(placed.number), "--tracking-url", "dhl", "--yes");
  expect(url).toEqual([2, "--tracking-url must be an http or https address", ""]);
  const first = await order("fulfill", placed, "--line", "mug:1", "--carrier", "DHL", "--tracking", "0034", "--yes");
  expect(first).toMatchObject({ status: "paid", fulfillment_status: "partially_fulfilled" });
  expect(first.fulfillments).toMatchObject([
    { lines: [{ quantity: 1 }], tracking: { carrier: "DHL", number: "0034", url: expect.stringContaining("0034") } },
  ]);
  expect(await order("fulfill", placed, "--line", "MUG", "--line", "BOOK", "--yes")).toMatchObject({
    ...{ status: "completed", fulfillment_status: "fulfilled" },
  });
  const refund = (...flags: string[]) => refused("refund", String(placed.number), "--yes", ...flags);
  expect(await refund("--returned")).toEqual([2, "--returned needs --line.", ""]);
  expect(await refund("--line", "MUG:1")).toEqual([4, expect.stringContaining('came back, set "returned"'), ""]);
  const flags = "--line MUG:1 --returned --shipping 5.95 --amount 1 --yes".split(" ");
  const back = await order("refund", placed, ...flags);
  expect(back).toMatchObject({
    payment_status: "partially_refunded",
    returned_minor: 1885,
    refunds: [{ shipping: 5.95 }],
  });
  const question = await refused("refund", String(placed.number), "--amount", "2");
  expect(question[2]).toStartWith("Refund 2.00 EUR of order ");
  const sheet = await shown(placed);
  for (const part of [
    /^Due +0\.00 EUR$/m,
    /^Shipping rate +Standard$/m,
    /^TAX CLASS +RATE +BASE +TAX\nstandard +19 % +\d+\.\d\d EUR +\d+\.\d\d EUR$/m,
    /^FULFILLMENT ID +ITEMS +CARRIER .*\nful_\S+ +1 × MUG +DHL +0034 +https:.*\nful_\S+ +1 × MUG, 1 × BOOK +- /m,
    /^ref_\S+ +succeeded +18\.85 EUR +1 /m,
  ]) {
    expect(sheet).toMatch(part);
  }
});

describe("staff", () => {
  test("staff list orders that need attention, and record decisions", async () => {
    const placed = await create("--item", "BOOK", ...toBerlin);
    const attention = async () =>
      (await json<Order[]>("order", "list", ...demo, "--attention")).map(({ number }) => number);
    expect(await refused("accept", String(placed.number))).toEqual([
      ...[4, `Order ${placed.number} does not need attention.`, ""],
    ]);
    expect(await attention()).not.toContain(placed.number);
    expect(await order("pay", placed, "--amount", "50", "--yes")).toMatchObject({ needs_attention: ["overpaid"] });
    expect(await attention()).toContain(placed.number);
    const table = (await run(["order", "list", ...demo, "--attention"])).stdout;
    expect(table).toMatch(/ CREATED +ATTENTION\n/);
    expect(table).toMatch(new RegExp(`^${placed.number} .* overpaid$`, "m"));
    expect(await shown(placed)).toMatch(/^Needs attention +overpaid$/m);
    expect(await refused("accept", String(placed.number), "--kind", "dispute")).toEqual([
      ...[4, `Order ${placed.number} does not need attention for dispute.`, ""],
    ]);
    expect(await order("accept", placed, "--note", "Paid back")).toMatchObject({ needs_attention: [] });
    expect(await attention()).not.toContain(placed.number);
  });
});

test("one command cancels a partly paid order and refunds the received money", async () => {
  const placed = await create("--item", "MUG:2", ...toBerlin);
  await order("pay", placed, "--amount", "20", "--yes");
  const question = await refused("cancel", String(placed.number));
  expect(question[2]).toStartWith(`Cancel order ${placed.number} of guest (29.75 EUR) and refund 20.00 EUR?`);
  expect(await order("cancel", placed, "--yes")).toMatchObject({
    ...{ status: "cancelled", payment_status: "refunded", returned_minor: 2000, needs_attention: [] },
  });
});

test("an export has received and due amounts, shipping tax, email, discount code and tax class", async () => {
  const flags = ["--item", "MUG", "--email", "eve@example.com", "--discount", "TEN", ...toBerlin];
  const placed = await create(...flags);
  const lines = (await run(["order", "export", ...demo])).stdout.trimEnd().split("\n");
  const names = lines[0]?.split(",") ?? [];
  const cells = lines.at(-1)?.split(",") ?? [];
  const row = Object.fromEntries(names.map((name, index) => [name, cells[index]]));
  expect(row).toMatchObject({
    ...{ order_id: placed.order_id, email: "eve@example.com", discount_code: "TEN", prices_include_tax: "true" },
    ...{ shipping_tax: "0.95", received: "0.00", due: "16.66", line_tax_class: "standard" },
  });
});

test("mail preview prints a mail as people read it: in lines, and without marks of its direction", async () => {
  const { number } = await create("--item", "MUG:2", "--email", "eve@example.com", ...toBerlin);
  const preview = (language: string) =>
    run(["mail", "preview", ...demo, "--order", String(number), "--kind", "placed", "--language", language]);
  const { stdout } = await preview("en");
  expect(stdout).toMatch(
    /^Subject {3}Your order \d+\n\nHello,\n\nThank you for your order \d+ at demo\.\n\n2 × Mug .*\n/m,
  );
  for (const text of [stdout, (await preview("ar")).stdout]) expect(text).not.toContain("\\");
});

describe("order invoice and order export --for accounting", () => {
  test("order invoice writes a file that only its owner can read; order export --for accounting writes a row for the tax rate of a paid order", async () => {
    await json("tenant", "update", "demo", "--invoice-from", "Kiln\n1 Street, Berlin");
    const placed = await create("--item", "MUG", ...toBerlin);
    expect(await refused("invoice", String(placed.number))).toEqual([4, expect.stringContaining("is pending"), ""]);
    await order("pay", placed, "--payment-reference", "+49 bank", "--yes");
    const path = join(makeDir(), "invoice.html");
    const { stdout, stderr } = await run(["order", "invoice", String(placed.number), ...demo, "--output", path]);
    expect(stdout).toMatch(/^NUMBER +KIND +TOTAL +ISSUED *\n1 +invoice +17\.85 EUR/m);
    expect(stderr).toContain(`Exported 1 invoice to ${path}`);
    expect(readFileSync(path, "utf8")).toContain("1 Street, Berlin");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await refused("invoice", String(placed.number), "--document", "9")).toEqual([
      ...[3, 'Invoice "9" not found.', "Omit --document to list the invoices of the order."],
    ]);
    const german = await run(["order", "export", ...demo, "--for", "accounting", "--delimiter", "semicolon"]);
    expect(german.stdout).toStartWith("\uFEFFdocument;date;");
    expect(german.stdout).toContain(";19;15,00;2,85;17,85;manual;'+49 bank\n");
    const books = await run(["order", "export", ...demo, "--for", "accounting"]);
    const [header, ...rows] = books.stdout.trim().split("\n");
    expect(header).toStartWith(
      "document,date,order_number,invoice_number,country,currency,tax_class,tax_rate,net,tax,gross",
    );
    expect(rows.at(-1)).toMatch(
      new RegExp(`^order,[\\d-]+,${placed.number},1,DE,EUR,standard,19,15\\.00,2\\.85,17\\.85,manual,'\\+49 bank$`),
    );
  });
});

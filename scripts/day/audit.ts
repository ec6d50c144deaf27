import { parse } from "csv-parse/sync";
import type { Desk, Order } from "./sales.ts";

interface Invoice {
  number: number;
  kind: string;
  total_minor: number;
}

const sumOf = <T>(rows: readonly T[], amount: (row: T) => number) => rows.reduce((sum, row) => sum + amount(row), 0);

/** Throws unless two values are equal. */
function agree(what: string, found: unknown, expected: unknown): void {
  if (Bun.deepEquals(found, expected)) return;
  throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
}

export async function readOrders({ must, staff }: Desk): Promise<Order[]> {
  const query = { limit: "100", sort: "number" };
  return must<Order[]>("GET /orders/", undefined, { ...staff, query });
}

/** Compares each order with the records of the simulated Stripe and of the bank, to the cent. */
export function checkMoney({ stripe, bank }: Desk, orders: readonly Order[]): string {
  const { lists } = stripe.books;
  const counted = { charges: 0, refunds: 0, disputes: 0 };
  for (const order of orders) {
    const intents = lists.payment_intents.filter(({ metadata }) => metadata.order === order.id).map(({ id }) => id);
    const isOf = (row: { payment_intent: string | null }) => intents.includes(row.payment_intent ?? "");
    const charges = lists.charges.filter(isOf);
    const refunds = lists.refunds.filter((one) => isOf(one) && !/failed|canceled/.test(one.status));
    const lost = lists.disputes.filter((one) => isOf(one) && one.status === "lost");
    const name = `order ${order.number}`;
    const byCard = order.payments.filter(({ provider }) => provider === "stripe");
    agree(
      `card payments of ${name}`,
      sumOf(byCard, (one) => one.amount_minor),
      sumOf(charges, (one) => one.amount),
    );
    agree(
      `received for ${name}`,
      order.received_minor,
      sumOf(charges, (one) => one.amount) + (bank.get(order.id) ?? 0),
    );
    const back = sumOf([...refunds, ...lost], (one) => one.amount);
    if (!bank.has(order.id)) agree(`returned for ${name}`, order.refunded_minor, back);
    agree(
      `refunds of ${name}`,
      order.refunded_minor,
      sumOf(order.refunds, (one) => (one.state === "failed" ? 0 : one.amount_minor)),
    );
    agree(`open refunds of ${name}`, order.refunds.filter(({ state }) => state === "requested").length, 0);
    counted.charges += charges.length;
    counted.refunds += refunds.length;
    counted.disputes += lost.length;
  }
  agree("charges at Stripe", lists.charges.length, counted.charges);
  return `${counted.charges} charges, ${counted.refunds} refunds and ${counted.disputes} lost dispute at Stripe, all here once`;
}

/** Compares the stock of each product with the pieces that were sold and returned. */
export async function checkStock({ must, staff, shop }: Desk, orders: readonly Order[]): Promise<string> {
  for (const { id, sku, stock } of shop.products) {
    const lines = orders.filter(({ paid_at }) => paid_at !== null).flatMap(({ items }) => items);
    const ofProduct = lines.filter(({ product_id }) => product_id === id);
    const sold = sumOf(ofProduct, ({ quantity, restocked_quantity }) => quantity - restocked_quantity);
    const found = await must<{ stock: number; reserved: number }>(`GET /products/${id}/`, undefined, staff);
    agree(`stock of ${sku}`, found.stock, stock - sold);
    agree(
      `available pieces of ${sku}`,
      (found as unknown as { available?: number }).available ?? found.stock,
      found.stock,
    );
    if (found.stock < 0) throw new Error(`${sku} was sold too often`);
  }
  return `the stock of ${shop.products.length} products`;
}

/** Compares the points of customers with their orders. */
export async function checkPoints({ must, shop }: Desk, orders: readonly Order[]): Promise<string> {
  let points = 0;
  for (const { id, email, query } of shop.customers) {
    const own = orders.filter(({ user_id }) => user_id === id);
    const held = own.filter(({ status, paid_at }) => paid_at !== null || status === "pending");
    const expected =
      sumOf(own, (one) => one.points_earned - one.points_reversed + one.points_returned) -
      sumOf(held, (one) => one.points_used);
    const { balance } = await must<{ balance: number }>("GET /rewards/", undefined, { query });
    agree(`points of ${email}`, balance, expected);
    points += balance;
  }
  return `${points} points of ${shop.customers.length} customers`;
}

const readBooks = async (dir: string) =>
  parse(await Bun.file(`${dir}/books.csv`).text(), { columns: true }) as Record<string, string>[];
const centsOf = (row: Record<string, string>, name: string) => Math.round(Number(row[name]) * 100);

/** Issues the invoices of all orders at once, and compares their numbers and sums with the export for accounting. */
export async function checkInvoices(desk: Desk, orders: readonly Order[]): Promise<string> {
  const { must, staff, stage } = desk;
  const paid = orders.filter(({ paid_at }) => paid_at !== null);
  const issued = await Promise.all(
    paid.map(({ id }) => must<Invoice[]>(`POST /orders/${id}/invoice/`, undefined, staff)),
  );
  const all = issued.flat();
  const numbers = all.map(({ number }) => number).toSorted((a, b) => a - b);
  agree(
    "numbers of invoices",
    numbers,
    numbers.map((_, index) => index + 1),
  );
  const total = (kind: string) => sumOf(all, (one) => (one.kind === kind ? one.total_minor : 0));
  agree(
    "sum of the invoices",
    total("invoice"),
    sumOf(paid, (one) => one.total_minor),
  );
  await stage.run("order", "export", "-n", "demo", "--for", "accounting", "--output", "books.csv", "--yes");
  const rows = await readBooks(stage.dir);
  const books = (document: string) => sumOf(rows, (row) => (row.document === document ? centsOf(row, "gross") : 0));
  agree("sum of the orders in the books", books("order"), total("invoice"));
  const lost = sumOf(desk.stripe.books.lists.disputes, (one) => (one.status === "lost" ? one.amount : 0));
  agree("sum of the refunds in the books", -books("refund"), total("credit_note") + lost);
  for (const row of rows)
    agree(`row ${JSON.stringify(row)}`, centsOf(row, "net") + centsOf(row, "tax"), centsOf(row, "gross"));
  return `${paid.length} invoices and ${all.length - paid.length} credit notes without a gap, ${rows.length} rows of books`;
}

/** Compares the reports with the orders, and with the export for accounting. */
export async function checkReports({ stage }: Desk, orders: readonly Order[]): Promise<string> {
  type Row = Record<string, number>;
  const report = async (name: string): Promise<Row[]> =>
    JSON.parse(await stage.run("report", name, "-n", "demo", "--since", "2030", "--by", "month", "--json"));
  const sales = await report("sales");
  const tax = await report("tax");
  const total = (rows: readonly Row[], name: string) => sumOf(rows, (row) => row[name] as number);
  const paid = orders.filter(({ paid_at }) => paid_at !== null);
  agree("orders in the report", total(sales, "orders"), paid.length);
  agree(
    "sold in the report",
    total(sales, "sold_minor"),
    sumOf(paid, (one) => one.total_minor),
  );
  agree(
    "received in the report",
    total(sales, "received_minor"),
    sumOf(orders, (one) => one.received_minor),
  );
  agree(
    "refunded in the report",
    total(sales, "refunded_minor"),
    sumOf(orders, (one) => one.refunded_minor),
  );
  const books = await readBooks(stage.dir);
  const ofBooks = (document: string, name: string) =>
    Math.abs(sumOf(books, (row) => (row.document === document ? centsOf(row, name) : 0)));
  for (const [document, verb] of [
    ["order", "sold"],
    ["refund", "returned"],
  ] as const) {
    agree(`${verb} in the report`, total(sales, `${verb}_minor`), ofBooks(document, "gross"));
    agree(`${verb} tax in the report`, total(tax, `${verb}_tax_minor`), ofBooks(document, "tax"));
    agree(`${verb} net in the report`, total(tax, `${verb}_net_minor`), ofBooks(document, "net"));
  }
  return `the reports of sales and of ${tax.length} tax rates`;
}

/**
 * Compares the outbox with the mails that arrived. If the server was killed before it recorded a mail as sent, the mail
 * arrives again, with the same Message-ID.
 */
export async function checkMails({ stage }: Desk, orders: readonly Order[]): Promise<string> {
  const { kills, arrivals, smtp } = stage;
  const rows = JSON.parse(await stage.run("mail", "list", "-n", "demo", "--limit", "1000", "--json")) as Record<
    "id" | "kind" | "status",
    string
  >[];
  const unsent = rows.filter(({ status }) => status !== "sent");
  agree(
    "mails that were not sent",
    unsent.map(({ kind, status }) => [kind, status]),
    [],
  );
  const mails = smtp.received.map((mail, index) => ({ ...mail, at: arrivals[index] as number }));
  const arrived = Map.groupBy(mails, (mail) => /<(mail_\w+)@/.exec(mail.header("message-id") ?? "")?.[1]);
  agree("mails that arrived", [...arrived.keys()].toSorted(), rows.map(({ id }) => id).toSorted());
  const again = [...arrived.values()].flatMap((same) => same.slice(0, -1));
  for (const { at, mail } of again) {
    const isInterrupted = kills.some((kill) => kill >= at && kill - at < 10_000);
    agree(`whether a kill explains that "${mail.subject}" arrived again`, isInterrupted, true);
  }
  const count = (kind: string) => rows.filter((one) => one.kind === kind).length;
  agree("mails about placed orders", count("order_placed"), orders.length);
  agree("mails about paid orders", count("order_paid"), orders.filter(({ paid_at }) => paid_at !== null).length);
  const kinds = [...new Set(rows.map(({ kind }) => kind))].toSorted().map((kind) => `${count(kind)} ${kind}`);
  const repeats = again.length > 0 ? `; ${again.length} of them again, because a kill had interrupted them` : "";
  return `${rows.length} mails (${kinds.join(", ")}), each once${repeats}`;
}

/** Checks that doctor, which recomputes every sum, finds nothing. */
export async function checkDoctor({ stage }: Desk): Promise<string> {
  const { findings } = JSON.parse(await stage.run("doctor", "-n", "demo", "--ignore", "accounts", "--json")) as {
    findings: { severity: string; check: string; message: string }[];
  };
  agree(
    "findings of doctor",
    findings.filter(({ severity }) => severity !== "note").map(({ message }) => message),
    [],
  );
  await stage.run("db", "check");
  return "doctor and db check found nothing";
}

import type { Ctx } from "../../../server/context.ts";
import type { AccountingRow } from "../../../server/modules/orders/export/accounting.ts";
import { orderColumns } from "../../../server/modules/orders/export/order-columns.ts";
import type { OrderDocument, OrderFilter } from "../../../server/modules/orders/list.ts";
import { paymentStatuses } from "../../../server/modules/orders/states.ts";
import { type StoreArgs, withTenant } from "../../context/context.ts";
import { exportArgs, limitArg, sinceArg, untilArg, userFilterArg } from "../../context/list-args.ts";
import { defineAct } from "../../context/store-command.ts";
import { type ArgValues, type CommandArgs, choiceArg, requiredNamespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, invalidFlag, printList } from "../../terminal/console.ts";
import { prepareExport, writeExport } from "../../terminal/export-file.ts";
import { findUser } from "../user/user.ts";
import { order } from "./order.ts";
import { formatAmount, formatCustomer, printOrder, toOrderRecord } from "./print.ts";

const orderFilterFlags = {
  status: choiceArg(["pending", "paid", "completed", "cancelled", "expired"], "Filter by status"),
  "payment-status": choiceArg(paymentStatuses, "Filter by payment status"),
  customer: userFilterArg,
  since: sinceArg,
  until: untilArg,
} as const satisfies CommandArgs;

async function readOrderFilter(ctx: Ctx, args: ArgValues<typeof orderFilterFlags>): Promise<OrderFilter> {
  const { status, "payment-status": payment_status, customer, since, until } = args;
  // Orders of a deleted user remain, so the id of a deleted user is accepted.
  const customer_id = customer?.includes("@") ? await findUser(ctx, customer) : customer;
  return { status, payment_status, customer_id, "created_at[gte]": since, "created_at[lt]": until };
}

export const listCommand = defineCommand({
  description: "List the orders of a store, newest first",
  args: {
    namespace: requiredNamespaceArg,
    ...orderFilterFlags,
    attention: { type: "boolean", description: "List only orders that need the attention of staff" },
    by: choiceArg(["buyer"], "List the buyers of unpaid orders, and how many pieces each reserves"),
    limit: limitArg("50"),
  },
  exclusive: ["status", "payment-status", "customer", "since", "until", "attention"].map((flag) => ["by", flag]),
  examples: ["bodega order list -n demo --status paid --since 7d", "bodega order list -n demo --by buyer"],
  async run(args, console) {
    const { limit, attention } = args;
    if (args.by !== undefined) return printBuyers(args, console);
    const { readOrders } = await import("../../../server/modules/orders/list.ts");
    const more = attention ? { attention: "any" as const } : {};
    const orders = await withTenant(args, console, async (ctx) =>
      readOrders(ctx, { ...(await readOrderFilter(ctx, args)), ...more }, limit),
    );
    const needs = {
      header: "ATTENTION",
      value: ({ needs_attention: kinds }: Pick<OrderDocument, "needs_attention">) => kinds?.join(", ") ?? "",
    };
    await printList(console, orders.map(toOrderRecord), {
      id: ({ order_id }) => order_id,
      empty: "No orders found.",
      columns: [
        ...(["number", "status"] as const),
        { header: "PAYMENT", value: (order) => order.payment_status },
        { header: "TOTAL", value: (order) => formatAmount(order.total_minor, order) },
        { header: "CUSTOMER", value: formatCustomer },
        { header: "ITEMS", value: ({ items }) => String(items.reduce((sum, item) => sum + item.quantity, 0)) },
        "created_at",
        ...(attention ? [needs] : []),
      ],
      limit,
    });
  },
});

async function printBuyers(args: StoreArgs & { limit: number }, console: Console): Promise<void> {
  const { listBuyers } = await import("../../../server/modules/orders/buyers.ts");
  const buyers = await withTenant(args, console, (ctx) => listBuyers(ctx, args.limit));
  await printList(console, buyers, {
    id: ({ buyer }) => buyer,
    empty: "No unpaid orders found.",
    columns: [
      { header: "BUYER", value: ({ buyer, email }) => email ?? buyer },
      ...(["orders", "pieces", "since", "expires_at"] as const),
    ],
  });
}

export const showCommand = defineAct({
  description: "Show an order with its lines, taxes, payments, parcels and refunds",
  args: order.args,
  examples: ["bodega order show -n demo 17"],
  act: (ctx, args) => order.find(ctx, args.order),
  print: printOrder,
});

const columnNames = orderColumns.map(([name]) => name).join(", ");

export const exportCommand = defineCommand({
  description: "Export the orders of a store as CSV or NDJSON, oldest first",
  args: {
    namespace: requiredNamespaceArg,
    ...exportArgs,
    ...orderFilterFlags,
    for: choiceArg(
      ["accounting"],
      "Export a row for each tax rate of each paid order and refund; --since and --until filter by the time of payment or refund",
    ),
    delimiter: choiceArg(
      ["comma", "semicolon"],
      "Column separator for accounting; with semicolon, amounts have a decimal comma, as in German (default: comma)",
    ),
  },
  exclusive: ["status", "payment-status", "customer"].map((flag) => ["for", flag]),
  examples: [
    "bodega order export -n demo --since 2030-01-01 --until 2030-02-01 --output january.csv",
    "bodega order export -n demo --for accounting --delimiter semicolon --since 2030-01-01 --output books.csv",
  ],
  notes: [
    "The file is created once the export is complete. Only your system account can read it.",
    `CSV has one row per order line and the columns: ${columnNames}. Columns without the prefix line_ repeat the order's ` +
      "values in all its rows: to sum orders, count each order_id once. An apostrophe before a text keeps spreadsheets from " +
      "running the text as a formula.",
    "NDJSON has one order per line, as GET /orders/{id}/ returns it.",
  ],
  async run(args, console) {
    const format = await prepareExport(console, args);
    const { output, since, until } = args;
    if (args.delimiter && args.for === undefined) throw invalidFlag("--delimiter", "needs --for accounting");
    const isCsv = format === "csv";
    // Only the owner can read the file, because orders contain names and addresses.
    const file = { output, format, mode: 0o600 };
    const toNdjson = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    if (args.for === "accounting") {
      const accounting = await import("../../../server/modules/orders/export/accounting.ts");
      const delimiter = args.delimiter === "semicolon" ? ";" : ",";
      const header = isCsv ? accounting.accountingHeader(delimiter) : "";
      const render = (rows: readonly AccountingRow[]) =>
        isCsv ? accounting.accountingCsv(rows, delimiter) : toNdjson(rows);
      return withTenant(args, console, (ctx) => {
        const pages = accounting.readAccounting(ctx, { since, until });
        return writeExport(console, { ...file, header, noun: "rows", pages, render });
      });
    }
    const { readOrderPages } = await import("../../../server/modules/orders/list.ts");
    const { orderCsvHeader, orderCsvRows } = await import("../../../server/modules/orders/export/order-csv.ts");
    const header = isCsv ? orderCsvHeader : "";
    const render = isCsv ? orderCsvRows : toNdjson;
    await withTenant(args, console, async (ctx) => {
      const pages = readOrderPages(ctx, { ...(await readOrderFilter(ctx, args)), sort: "created_at" });
      await writeExport(console, { ...file, header, noun: "orders", pages, render });
    });
  },
});

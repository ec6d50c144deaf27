import type { Ctx } from "../../../server/context.ts";
import { orderColumns } from "../../../server/modules/orders/order-columns.ts";
import type { OrderFilter, OrderView } from "../../../server/modules/orders/views.ts";
import { formatMinor } from "../../../server/values/money.ts";
import { recordArgs, type StoreArgs, withTenant } from "../../context/context.ts";
import type { ArgValues, CommandArgs } from "../../framework/args.ts";
import {
  choiceArg,
  exportArgs,
  limitArg,
  requiredNamespaceArg,
  sinceArg,
  untilArg,
  userFilterArg,
} from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, invalidFlag, printJson, printList, printRecord } from "../../terminal/console.ts";
import { prepareExport, writeExport } from "../../terminal/export-file.ts";
import { findUser } from "../user/user.ts";

const views = () => import("../../../server/modules/orders/views.ts");

const toOrderRecord = ({ order: { id, ...rest }, customerEmail }: OrderView) => ({
  order_id: id,
  customer_email: customerEmail,
  ...rest,
});

export function formatAmount(minor: number, { order, digits }: OrderView): string {
  return `${formatMinor(minor, digits)} ${order.currency}`;
}

export function formatCustomer({ order, customerEmail }: OrderView): string {
  return customerEmail ?? order.user_id ?? "guest";
}

export async function printOrder(console: Console, view: OrderView): Promise<void> {
  const record = toOrderRecord(view);
  if (console.json || console.quiet) return printRecord(console, record);
  const { items, refunds, shipping_address, ...rest } = record;
  const amount = (minor: number) => formatAmount(minor, view);
  const isHidden = (name: string) => `${name}_minor` in rest || (name === "expires_at" && rest.status !== "pending");
  const fields = Object.entries(rest).filter(([name]) => !isHidden(name));
  const shown = fields.map(([name, value]) =>
    name.endsWith("_minor") ? [name.slice(0, -"_minor".length), amount(Number(value))] : [name, value],
  );
  const address = shipping_address && addressParts.flatMap((part) => shipping_address[part] ?? []).join(", ");
  await printRecord(console, { ...Object.fromEntries(shown), shipping_address: address });
  await console.write("\n");
  await printList(console, items, {
    empty: "No lines.",
    columns: [
      { header: "LINE ID", value: (line) => line.id },
      { header: "TITLE", value: (line) => [line.title, line.variant_title].filter((text) => text !== null).join(", ") },
      "sku",
      { header: "PRICE", value: (line) => amount(line.price_minor) },
      "quantity",
      { header: "DISCOUNT", value: (line) => amount(line.discount_minor) },
      { header: "TAX", value: (line) => amount(line.tax_minor) },
      { header: "TOTAL", value: (line) => amount(line.total_minor) },
      { header: "REFUNDED", value: (line) => `${line.refunded_quantity}: ${amount(line.refunded_minor)}` },
      { header: "RESTOCKED", value: (line) => String(line.restocked_quantity) },
    ],
  });
  if (refunds.length === 0) return;
  await console.write("\n");
  await printList(console, refunds, {
    empty: "No refunds.",
    columns: [
      { header: "REFUND ID", value: (refund) => refund.id },
      { header: "AMOUNT", value: (refund) => amount(refund.amount_minor) },
      { header: "ITEMS", value: (refund) => String(refund.lines.reduce((sum, line) => sum + line.quantity, 0)) },
      "reason",
      { header: "RETURNED POINTS", value: (refund) => String(refund.points_returned) },
      { header: "REVERSED POINTS", value: (refund) => String(refund.points_reversed) },
      "created_at",
    ],
  });
}

const addressParts = ["name", "line1", "line2", "postal_code", "city", "region", "country", "phone"] as const;

const load = async () => (await views()).resolveOrderId;
export const order = recordArgs("order", "order", "Id or number of the order", load);

const orderFilterFlags = {
  status: choiceArg(["pending", "paid", "completed", "cancelled", "expired"], "Filter by status"),
  "payment-status": choiceArg(["unpaid", "paid", "partially_refunded", "refunded"], "Filter by payment status"),
  customer: userFilterArg,
  since: sinceArg,
  until: untilArg,
} as const satisfies CommandArgs;

async function readOrderFilter(ctx: Ctx, args: ArgValues<typeof orderFilterFlags>): Promise<OrderFilter> {
  const { status, "payment-status": payment_status, customer, since, until } = args;
  // Orders outlive their users, so an id need not belong to a user.
  const customer_id = customer?.includes("@") ? await findUser(ctx, customer) : customer;
  return { status, payment_status, customer_id, "created_at[gte]": since, "created_at[lt]": until };
}

export const listCommand = defineCommand({
  description: "List the orders of a store, newest first",
  args: {
    namespace: requiredNamespaceArg,
    ...orderFilterFlags,
    unpaid: { type: "boolean", description: "List only pending orders, which reserve stock" },
    by: choiceArg(["buyer"], "With --unpaid: list who reserves how many pieces"),
    limit: limitArg("50"),
  },
  examples: ["bodega order list -n demo --status paid --since 7d", "bodega order list -n demo --unpaid --by buyer"],
  async run(args, console) {
    const { limit, unpaid } = args;
    if (args.by !== undefined && !unpaid) throw invalidFlag("--by", "needs --unpaid");
    if (args.by !== undefined) return printBuyers(args, console);
    const { listOrderViews } = await views();
    const found = await withTenant(args, console, async (ctx) =>
      listOrderViews(ctx, { ...(await readOrderFilter(ctx, args)), ...(unpaid && { status: "pending" }) }, limit),
    );
    if (console.json) return printJson(console, found.views.map(toOrderRecord));
    await printList(console, found.views, {
      id: ({ order }) => order.id,
      empty: "No orders found.",
      columns: [
        { header: "NUMBER", value: ({ order }) => String(order.number) },
        { header: "STATUS", value: ({ order }) => order.status },
        { header: "PAYMENT", value: ({ order }) => order.payment_status },
        { header: "TOTAL", value: (view) => formatAmount(view.order.total_minor, view) },
        { header: "CUSTOMER", value: formatCustomer },
        { header: "ITEMS", value: ({ order }) => String(order.items.reduce((sum, item) => sum + item.quantity, 0)) },
        { header: "CREATED", value: ({ order }) => order.created_at },
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

export const showCommand = defineCommand({
  description: "Show an order with its lines, refunds and address",
  args: order.args,
  examples: ["bodega order show -n demo 17"],
  run: async (args, console) =>
    printOrder(console, await order.withRecord(args, console, (await views()).getOrderView)),
});

const columnNames = orderColumns.map(([name]) => name).join(", ");

export const exportCommand = defineCommand({
  description: "Export the orders of a store as CSV or NDJSON, oldest first",
  args: { namespace: requiredNamespaceArg, ...exportArgs, ...orderFilterFlags },
  examples: ["bodega order export -n demo --since 2030-01-01 --until 2030-02-01 --output january.csv"],
  notes: [
    "The file is created when the export is complete, and only its owner can read it.",
    `CSV has one row per order line and the columns: ${columnNames}. Columns without the prefix line_ repeat the order's ` +
      "values in all its rows: to sum orders, count each order_id once. An apostrophe keeps spreadsheets from running a text " +
      "as a formula.",
    "NDJSON has one order per line, as GET /orders/{id}/ returns it.",
  ],
  async run(args, console) {
    const format = await prepareExport(console, args);
    const { readOrderPages } = await views();
    const { orderCsvHeader, orderCsvRows } = await import("../../../server/modules/orders/order-csv.ts");
    const toNdjson = (views: readonly OrderView[]) => views.map((one) => `${JSON.stringify(one.order)}\n`).join("");
    const [header, render] = format === "csv" ? [orderCsvHeader, orderCsvRows] : ["", toNdjson];
    await withTenant(args, console, async (ctx) => {
      const pages = readOrderPages(ctx, { ...(await readOrderFilter(ctx, args)), sort: "created_at" });
      // Only the owner can read the file, because orders contain names and addresses.
      await writeExport(console, { output: args.output, format, mode: 0o600, header, noun: "orders", pages, render });
    });
  },
});

import type { Ctx } from "../../../server/context.ts";
import { notFound } from "../../../server/errors.ts";
import type { OrderView } from "../../../server/modules/orders/views.ts";
import { type StoreArgs, withTenant } from "../../context/context.ts";
import { valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, info, invalidFlag, printRecord } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { findUser } from "../user/user.ts";
import { formatAmount, formatCustomer, order, printOrder } from "./commands.ts";

const service = () => import("../../../server/modules/orders/service.ts");

const dryRunArg = { type: "boolean", description: "Show the changed order and save nothing" } as const;

type Order = OrderView["order"];

/**
 * Tries a change, asks about its result, makes the change, and prints the order. A dry run only tries and prints.
 * @param question such as `Cancel {order}?`; `{amount}` is the amount of the newest refund.
 */
async function changeOrder(
  args: StoreArgs & { order: string; "dry-run"?: boolean },
  console: Console,
  question: string,
  act: (tx: Ctx, of: Order) => Promise<unknown>,
): Promise<void> {
  const isDryRun = args["dry-run"] === true;
  const { inDryRun, inTransaction } = await import("../../../server/db/transaction.ts");
  const { getOrderView } = await import("../../../server/modules/orders/views.ts");
  const change = async (tx: Ctx) => {
    const id = await order.find(tx, args.order);
    const before = (await getOrderView(tx, id)).order;
    await act(tx, before).catch((error: Error) => {
      error.message = error.message.replaceAll(id, String(before.number));
      throw error;
    });
    return getOrderView(tx, id);
  };
  const tried = await withTenant(args, console, (ctx) => inDryRun(ctx, change));
  if (isDryRun) {
    await printOrder(console, tried);
    return info(console, "Dry run: nothing was saved.");
  }
  const { number, total_minor, refunds } = tried.order;
  const name = `order ${number} of ${formatCustomer(tried)} (${formatAmount(total_minor, tried)})`;
  const amount = formatAmount(refunds.at(-1)?.amount_minor ?? 0, tried);
  const asked = question.replace("{amount}", amount).replace("{order}", () => name);
  await confirmAction(console, asked);
  await printOrder(console, await withTenant(args, console, (ctx) => inTransaction(ctx, change)));
}

export const payCommand = defineCommand({
  description: "Mark a pending order as paid",
  args: {
    ...order.args,
    reference: valueArg("text", "Id of the payment", { field: "payment_reference" }),
    "dry-run": dryRunArg,
  },
  examples: ["bodega order pay -n demo 17 --reference bank-2030-01-31"],
  done: "Marked order {number} as paid.",
  notes: ["Stock is deducted, and the customer earns points. A reference books a payment only once."],
  async run(args, console) {
    const { payOrder } = await service();
    const input = args.reference === undefined ? {} : { payment_reference: args.reference };
    await changeOrder(args, console, "Mark {order} as paid?", (tx, { id }) => payOrder(tx, id, input));
  },
});

export const fulfillCommand = defineCommand({
  description: "Mark a paid order as fulfilled",
  args: order.args,
  done: "Marked order {number} as fulfilled.",
  examples: ["bodega order fulfill -n demo 17"],
  async run(args, console) {
    const { fulfillOrder } = await service();
    await changeOrder(args, console, "Mark {order} as fulfilled?", (tx, { id }) => fulfillOrder(tx, id));
  },
});

export const cancelCommand = defineCommand({
  description: "Cancel pending orders and release their stock and points",
  args: {
    ...order.args,
    order: { ...order.args.order, required: false },
    buyer: valueArg("buyer", "Cancel all unpaid orders of this buyer, as `order list --unpaid --by buyer` shows it", {
      completes: "user",
    }),
    "dry-run": dryRunArg,
  },
  oneOf: ["order", "buyer"],
  examples: ["bodega order cancel -n demo 17", "bodega order cancel -n demo --buyer ada@example.com"],
  done: "Cancelled order {number}.",
  notes: ["A full refund cancels a paid order: bodega order refund -n <namespace> <order>"],
  async run(args, console) {
    const { order: named, buyer, ...rest } = args;
    if (named === undefined) return cancelOfBuyer({ ...rest, buyer: buyer as string }, console);
    const { cancelOrder } = await service();
    await changeOrder({ ...rest, order: named }, console, "Cancel {order}?", (tx, { id }) => cancelOrder(tx, id));
  },
});

async function cancelOfBuyer(args: StoreArgs & { buyer: string; "dry-run": boolean }, console: Console) {
  const { cancelUnpaid, listUnpaid } = await import("../../../server/modules/orders/buyers.ts");
  const isEmail = args.buyer.includes("@");
  const isDryRun = args["dry-run"];
  const { buyer, numbers } = await withTenant(args, console, async (ctx) => {
    const buyer = (isEmail ? await findUser(ctx, args.buyer) : undefined) ?? args.buyer;
    return { buyer, numbers: (await listUnpaid(ctx, buyer)).map(({ number }) => number) };
  });
  if (numbers.length === 0 && !isEmail) {
    const remedy = `List the buyers: bodega order list -n ${args.namespace} --unpaid --by buyer`;
    throw notFound("buyer", args.buyer, { in: "the unpaid orders", remedy });
  }
  let cancelled = numbers;
  if (numbers.length > 0 && !isDryRun) {
    await confirmAction(console, `Cancel the unpaid orders of ${args.buyer} (${numbers.join(", ")})?`);
    cancelled = await withTenant(args, console, (ctx) => cancelUnpaid(ctx, buyer));
  }
  const done = isDryRun ? undefined : "Cancelled the unpaid orders of {buyer}.";
  await printRecord({ ...console, done }, { buyer: args.buyer, cancelled });
  if (isDryRun) await info(console, "Dry run: nothing was saved.");
}

export const refundCommand = defineCommand({
  description: "Record the refund of a paid order, or of some of its lines",
  args: {
    ...order.args,
    line: valueArg(
      "id|SKU[:quantity]",
      "Line to refund (default: the whole order with shipping); all that is left of it without a quantity",
      { multiple: true, field: "lines" },
    ),
    restock: { type: "boolean", description: "Return the refunded items to stock" },
    reason: valueArg("text", "Reason"),
    "dry-run": dryRunArg,
  },
  examples: ['bodega order refund -n demo 17 --line LAMP-1:1 --restock --reason "arrived broken"'],
  done: "Recorded the refund of order {number}.",
  notes: ["Bodega moves no money: refund it where it was paid. Points are returned and reversed in proportion."],
  async run(args, console) {
    const { refundOrder } = await import("../../../server/modules/orders/refund.ts");
    const { line, restock, reason = null } = args;
    await changeOrder(args, console, "Refund {amount} of {order}?", (tx, of) => {
      const lines = line.length > 0 && { lines: line.map((text) => findLine(of, text)) };
      return refundOrder(tx, of.id, { ...lines, restock, reason });
    });
  },
});

/** Returns the line that `line_…`, `LAMP-1` or `LAMP-1:2` names. Errors: malformedRequest unless exactly one line matches. */
function findLine({ items }: Order, text: string) {
  const [, name = text, digits] = /^(.+):([1-9]\d{0,6})$/.exec(text) ?? [];
  const isNamed = ({ id, sku }: Order["items"][number]) => id === name || sku?.toLowerCase() === name.toLowerCase();
  const [line, ...others] = items.filter(isNamed);
  if (!line || others.length > 0) {
    const names = items.map(({ id, sku }) => sku ?? id).join(", ");
    throw invalidFlag("--line", `names ${line ? "several lines" : "no line"} of the order`, `Lines: ${names}`);
  }
  return { line_id: line.id, quantity: Number(digits ?? Math.max(line.quantity - line.refunded_quantity, 1)) };
}

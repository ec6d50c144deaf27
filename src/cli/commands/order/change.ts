import type { Ctx } from "../../../server/context.ts";
import { notFound } from "../../../server/errors.ts";
import { type StoreArgs, withPayments, withTenant } from "../../context/context.ts";
import { valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseDecimal, parsePastTime } from "../../framework/parse-values.ts";
import { type Console, info, invalidFlag, printRecord } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { findUser } from "../user/user.ts";
import { changeAtOnce, changeOrder, countSent, countUnsent, dryRunArg, findLine, order } from "./order.ts";
import { printOrder } from "./print.ts";

const closing = (text: string) => ({ text, closesPage: true }) as const;
const lineArg = (description: string) => valueArg("id|SKU[:quantity]", description, { multiple: true, field: "lines" });

export const payCommand = defineCommand({
  description: "Book a payment of an order",
  args: {
    ...order.args,
    amount: valueArg("amount", "Amount that was received (default: what is due)", { parse: parseDecimal }),
    "payment-reference": valueArg("text", "Id of the payment, which is booked only once"),
    "received-at": valueArg("duration|time", "When the money arrived: a day, 2d (ago), or a time (default: now)", {
      parse: parsePastTime,
    }),
    check: { type: "boolean", description: "Only read the card payment at the provider" },
    "dry-run": dryRunArg,
  },
  exclusive: ["amount", "payment-reference", "received-at", "dry-run"].map((flag) => ["check", flag]),
  examples: ["bodega order pay -n demo RF5717 --amount 20 --received-at 2026-11-01"],
  done: "Booked a payment of order {number}.",
  notes: [
    "When the whole amount is received, the order is paid: its stock is sold, and its customer earns points. After a part payment, " +
      "the order stays unpaid, and its stock stays reserved. If the buyer paid too much, the order needs attention. Payments of expired " +
      "orders are booked, too.",
  ],
  async run(args, console) {
    const { amount, "payment-reference": payment_reference, "received-at": received_at } = args;
    const input = { amount, payment_reference, received_at };
    if (args.check) return checkPaymentOf(args, console);
    const { payOrder } = await import("../../../server/modules/orders/payments.ts");
    await changeOrder(args, console, closing("Book a payment of {amount} for {order}?"), (tx, { id }) =>
      payOrder(tx, id, input),
    );
  },
});

/** Reads the order's payment pages at the provider. No transaction waits for the provider. */
async function checkPaymentOf(args: StoreArgs & { order: string }, console: Console): Promise<void> {
  const { checkPayment } = await import("../../../server/modules/payments/reconcile.ts");
  const read = await withPayments(args, console, async (ctx) => {
    const { id } = await order.find(ctx, args.order);
    await checkPayment(ctx, id);
    return order.find(ctx, id);
  });
  await printOrder({ ...console, done: undefined }, read);
}

export const fulfillCommand = defineCommand({
  description: "Record that a paid order, or a part of it, was sent",
  args: {
    ...order.args,
    line: lineArg("Line in the parcel (default: all that was not sent yet)"),
    carrier: valueArg("name", "Carrier of the parcel, such as DHL", { field: "tracking.carrier" }),
    tracking: valueArg("number", "Tracking number of the parcel", { field: "tracking.number" }),
    "tracking-url": valueArg(
      "url",
      "Page that tracks the parcel (default: the page of the carrier, if Bodega knows it)",
    ),
  },
  done: "Recorded a parcel of order {number}.",
  examples: ["bodega order fulfill -n demo 17 --line MUG-1:2 --carrier DHL --tracking 00340434161094015902"],
  notes: ["An order is completed when nothing is left to send."],
  async run(args, console) {
    const { createFulfillment } = await import("../../../server/modules/orders/fulfillments/fulfillments.ts");
    const { line, carrier, tracking: number, "tracking-url": url } = args;
    const hasTracking = carrier !== undefined || number !== undefined || url !== undefined;
    const parcel = line.length === 0 ? "all that is left" : line.join(", ");
    await changeOrder(args, console, `Record a parcel with ${parcel} of {order}?`, (tx, of) =>
      createFulfillment(tx, of.id, {
        ...(line.length > 0 && { lines: line.map((text) => findLine(of, text, countUnsent)) }),
        ...(hasTracking && { tracking: { carrier, number, url } }),
      }),
    );
  },
});

export const cancelCommand = defineCommand({
  description: "Cancel pending orders and release their stock and points",
  args: {
    ...order.args,
    order: { ...order.args.order, required: false },
    buyer: valueArg("buyer", "Cancel all unpaid orders of this buyer; `order list --by buyer` lists the buyers", {
      completes: "user",
    }),
    "dry-run": dryRunArg,
  },
  oneOf: ["order", "buyer"],
  examples: ["bodega order cancel -n demo 17", "bodega order cancel -n demo --buyer ada@example.com"],
  done: "Cancelled order {number}.",
  notes: [
    "The payment of a partly paid order is refunded when the order is cancelled; --buyer skips such orders. To cancel a paid " +
      "order, refund all of it: bodega order refund -n <namespace> <order>",
  ],
  async run(args, console) {
    const { order: named, buyer, ...rest } = args;
    if (named === undefined) return cancelOfBuyer({ ...rest, buyer: buyer as string }, console);
    const { cancelOrder } = await import("../../../server/modules/orders/cancel.ts");
    await changeOrder(
      { ...rest, order: named },
      console,
      closing("Cancel {order}[ and refund {amount}]?"),
      (tx, { id }) => cancelOrder(tx, id),
    );
  },
});

async function cancelOfBuyer(
  args: StoreArgs & { buyer: string; "dry-run"?: boolean },
  console: Console,
): Promise<void> {
  const { cancelUnpaid } = await import("../../../server/modules/orders/buyers.ts");
  const { inDryRun } = await import("../../../server/db/transaction.ts");
  const { buyer, namespace, "dry-run": isDryRun } = args;
  const isEmail = buyer.includes("@");
  const cancel = async (ctx: Ctx) => cancelUnpaid(ctx, (isEmail && (await findUser(ctx, buyer))) || buyer);
  let cancelled = await withTenant(args, console, (ctx) => inDryRun(ctx, cancel));
  if (cancelled.length === 0 && !isEmail) {
    const remedy = `List the buyers: bodega order list -n ${namespace} --by buyer`;
    throw notFound("buyer", buyer, { in: "the unpaid orders", remedy });
  }
  if (cancelled.length > 0 && !isDryRun) {
    await confirmAction(console, `Cancel the unpaid orders of ${buyer} (${cancelled.join(", ")})?`);
    cancelled = await withTenant(args, console, cancel);
  }
  const done = isDryRun ? undefined : "Cancelled the unpaid orders of {buyer}.";
  await printRecord({ ...console, done }, { buyer, cancelled });
  if (isDryRun) await info(console, "Dry run: nothing was saved.");
}

export const refundCommand = defineCommand({
  description: "Record the refund of a paid order, or of a part of it",
  args: {
    ...order.args,
    line: lineArg("Line to refund (default quantity: all its pieces that can be refunded)"),
    returned: { type: "boolean", description: "The pieces of --line were sent and came back" },
    shipping: valueArg("amount", "Shipping costs to refund, including tax", { parse: parseDecimal }),
    amount: valueArg("amount", "Further amount to refund, for goodwill or surplus money", { parse: parseDecimal }),
    restock: { type: "boolean", description: "Return the refunded items to stock" },
    reason: valueArg("text", "Reason"),
    retry: valueArg("refund_id", "Request this failed refund again"),
    "dry-run": dryRunArg,
  },
  exclusive: ["line", "shipping", "amount", "restock", "reason", "dry-run"].map((flag) => ["retry", flag]),
  examples: ['bodega order refund -n demo 17 --line LAMP-1:1 --returned --restock --reason "arrived broken"'],
  done: "Recorded the refund of order {number}.",
  notes: [
    "Without --line, --shipping and --amount, everything that was not refunded yet is refunded. --line refunds pieces that " +
      "were not sent, and they will not be sent any more. With --returned, --line refunds pieces that came back.",
    "The running server requests refunds of card payments from the provider. Pay back other payments yourself. Points that " +
      "the order has earned are taken back, and points that it has used are returned, in proportion to the refund.",
  ],
  async run(args, console) {
    const { refundOrder } = await import("../../../server/modules/orders/refund.ts");
    const { line, returned, shipping, amount, restock, reason = null, retry } = args;
    if (retry !== undefined) {
      const { retryRefund } = await import("../../../server/modules/payments/refunds.ts");
      return changeAtOnce(args, console, (tx, { id }) => retryRefund(tx, { id, refund_id: retry }));
    }
    if (returned && line.length === 0) throw invalidFlag("--returned", "needs --line");
    await changeOrder(args, console, closing("Refund {amount} of {order}?"), (tx, of) => {
      const found = line.map((text) => findLine(of, text, returned ? countSent : countUnsent));
      return refundOrder(tx, of.id, {
        ...(found.length > 0 && { lines: found.map((one) => ({ ...one, returned })) }),
        ...{ shipping, amount, restock, reason },
      });
    });
  },
});

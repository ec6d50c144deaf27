import type { Ctx } from "../../../server/context.ts";
import type { OrderDocument } from "../../../server/modules/orders/list.ts";
import { recordArgs, type StoreArgs, withPayments, withTenant } from "../../context/context.ts";
import type { Arg } from "../../framework/args.ts";
import { type Console, info, invalidFlag } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { formatAmount, formatCustomer, printOrder } from "./print.ts";

const load = async () => (await import("../../../server/modules/orders/list.ts")).findOrder;
export const order = recordArgs("order", "order", "Number, id or transfer reference of the order", load);

export const dryRunArg = {
  type: "boolean",
  description: "Show the changed order and save nothing",
} as const satisfies Arg;

export type Order = OrderDocument;
type OrderArgs = StoreArgs & { order: string };
type Change = (tx: Ctx, of: Order) => Promise<unknown>;

/** Makes a change in a transaction. Errors name the order by its number. */
async function applyChange(tx: Ctx, named: string, act: Change): Promise<Order> {
  const before = await order.find(tx, named);
  await act(tx, before).catch((error: Error) => {
    error.message = error.message.replaceAll(before.id, String(before.number));
    throw error;
  });
  return order.find(tx, before.id);
}

/** Makes a change without asking, and prints the order. */
export async function changeAtOnce(args: OrderArgs, console: Console, act: Change): Promise<void> {
  const { inTransaction } = await import("../../../server/db/transaction.ts");
  const change = (tx: Ctx) => applyChange(tx, args.order, act);
  await printOrder(console, await withTenant(args, console, (ctx) => inTransaction(ctx, change)));
}

/**
 * Tries a change in a dry run, asks the user to confirm, makes the change, and prints the order. With `--dry-run`, only
 * prints the result of the dry run.
 * @param question such as `Cancel {order}[ and refund {amount}]?`: `{amount}` is the amount to book or to refund. If
 * there is none, the part in brackets is omitted. With `closesPage`, the order's payment page is closed first.
 */
export async function changeOrder(
  args: OrderArgs & { "dry-run"?: boolean },
  console: Console,
  question: string | { text: string; closesPage: true },
  act: Change,
): Promise<void> {
  const { text, closesPage = false } = typeof question === "string" ? { text: question } : question;
  const isDryRun = args["dry-run"] === true;
  const { inDryRun } = await import("../../../server/db/transaction.ts");
  const { assumeClosed, closeCheckout } = await import("../../../server/modules/payments/reconcile.ts");
  let movedMinor = 0;
  const tried = await withTenant(args, console, (ctx) =>
    inDryRun(ctx, (tx) =>
      applyChange(tx, args.order, (tx, of) => {
        movedMinor = of.received_minor + of.returned_minor;
        return assumeClosed(tx, of.id).then(() => act(tx, of));
      }),
    ),
  );
  if (isDryRun) {
    await printOrder(console, tried);
    return info(console, "Dry run: nothing was saved.");
  }
  const { id, number, total_minor, received_minor, returned_minor } = tried;
  const name = `order ${number} of ${formatCustomer(tried)} (${formatAmount(total_minor, tried)})`;
  const moved = received_minor + returned_minor - movedMinor;
  const words = text.replace(/\[(.*?)\]/, moved === 0 ? "" : "$1");
  const named = words.replace("{number}", String(number)).replace("{order}", () => name);
  await confirmAction(console, named.replace("{amount}", formatAmount(moved, tried)));
  if (closesPage) await withPayments(args, console, (ctx) => closeCheckout(ctx, id));
  await changeAtOnce(args, console, act);
}

type Line = Order["items"][number];

/**
 * Returns the line and the quantity in a text such as `LAMP-1:2`: a line's id or SKU, and optionally a quantity.
 * @param left returns the default quantity of a line.
 * @throws malformedRequest unless exactly one line matches.
 */
export function findLine({ items }: Order, text: string, left: (line: Line) => number) {
  const { name, quantity } = splitQuantity(text);
  const isNamed = ({ id, sku }: Line) => id === name || sku?.toLowerCase() === name.toLowerCase();
  const [line, ...others] = items.filter(isNamed);
  if (!line || others.length > 0) {
    const names = items.map(({ id, sku }) => sku ?? id).join(", ");
    throw invalidFlag("--line", `names ${line ? "several lines" : "no line"} of the order`, `Lines: ${names}`);
  }
  return { line_id: line.id, quantity: quantity ?? Math.max(left(line), 1) };
}

/** Splits `LAMP-1:2` into the name and the quantity. */
export function splitQuantity(text: string): { name: string; quantity: number | undefined } {
  const [, name = text, digits] = /^(.+):([1-9]\d{0,6})$/.exec(text) ?? [];
  return { name, quantity: digits === undefined ? undefined : Number(digits) };
}

export function countUnsent({ quantity, fulfilled_quantity: sent, cancelled_quantity: cancelled }: Line): number {
  return quantity - sent - cancelled;
}

/** Counts the pieces of a line that were sent and not refunded yet. */
export function countSent({ fulfilled_quantity: sent, refunded_quantity: refunded, cancelled_quantity }: Line): number {
  return sent - (refunded - cancelled_quantity);
}

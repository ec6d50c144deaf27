import { fieldError, invalidField, wrongState } from "../../errors.ts";
import { shareOf } from "./amounts.ts";
import type { RefundInput } from "./model.ts";
import type { orderLines } from "./table.ts";

type Row = typeof orderLines.$inferSelect;
export type PaidLine = Pick<Row, "id" | "productId" | "variantId" | "title" | "sku" | "quantity" | "isCounted"> &
  Pick<Row, "subtotalMinor" | "totalMinor" | "refundedQuantity" | "refundedMinor">;

/** Refunds these lines, or all that is `left` (minor units) with shipping. Errors: validationFailed, wrongState. */
export function planRefund(
  lines: readonly PaidLine[],
  left: number,
  { lines: asked, restock: isRestocked = false }: RefundInput,
) {
  const quantities = asked ? askedQuantities(lines, asked) : new Map(lines.map((line) => [line.id, remaining(line)]));
  const planned = lines
    .filter((line) => (quantities.get(line.id) ?? 0) > 0)
    .map((line) => {
      const quantity = quantities.get(line.id) as number;
      const amount = shareOf(line.totalMinor, line.refundedQuantity + quantity, line.quantity) - line.refundedMinor;
      const item = { productId: line.productId, variantId: line.variantId };
      return { lineId: line.id, item, quantity, amount, restocked: isRestocked && line.isCounted ? quantity : 0 };
    });
  const amount = asked ? planned.reduce((sum, line) => sum + line.amount, 0) : left;
  const after = (line: PaidLine) => line.refundedQuantity + (quantities.get(line.id) ?? 0);
  return {
    amount,
    lines: planned,
    isFull: amount === left && lines.every((line) => after(line) === line.quantity),
    refundedGoods: lines.reduce((sum, line) => sum + shareOf(line.subtotalMinor, after(line), line.quantity), 0),
  };
}

function remaining(line: PaidLine): number {
  return line.quantity - line.refundedQuantity;
}

function askedQuantities(lines: readonly PaidLine[], asked: NonNullable<RefundInput["lines"]>) {
  const known = new Map(lines.map((line) => [line.id, line]));
  const quantities = new Map<string, number>();
  for (const [index, { line_id: id, quantity }] of asked.entries()) {
    const line = known.get(id);
    if (!line) throw invalidField(`lines.${index}.line_id`, "is not a line of this order");
    if (quantities.has(id)) throw invalidField(`lines.${index}.line_id`, "is repeated");
    if (!Number.isInteger(quantity) || quantity < 1) {
      throw invalidField(`lines.${index}.quantity`, "must be a whole number of at least 1");
    }
    if (quantity > remaining(line)) {
      const excess = `is ${quantity}, but ${remaining(line)} of ${line.sku ?? line.title} can be refunded`;
      throw fieldError(wrongState, `lines.${index}.quantity`, excess);
    }
    quantities.set(id, quantity);
  }
  return quantities;
}

import { fieldError, invalidField, wrongState } from "../../errors.ts";
import { shareOf } from "./amounts.ts";
import type { RefundInput } from "./change-model.ts";
import type { orderLines } from "./table.ts";

type Row = typeof orderLines.$inferSelect;
export type PaidLine = Pick<Row, "id" | "productId" | "variantId" | "title" | "sku" | "quantity" | "isCounted"> &
  Pick<Row, "subtotalMinor" | "totalMinor" | "refundedQuantity" | "refundedMinor"> &
  Pick<Row, "fulfilledQuantity" | "cancelledQuantity">;

/** The refund of pieces of a line. Amounts are in minor units. */
export interface RefundedLine {
  lineId: string;
  item: { productId: string; variantId: string | null };
  quantity: number;
  /** How many of the pieces were not sent. They will not be sent any more. */
  cancelled: number;
  amount: number;
  restocked: number;
}

/**
 * Plans the lines of a refund: the requested lines, or with `isAll` all pieces that were not refunded yet.
 * @throws validationFailed; wrongState for more pieces than can be refunded.
 */
export function planLines(lines: readonly PaidLine[], { lines: asked, restock = false }: RefundInput, isAll: boolean) {
  requirePieces(lines, asked ?? [], (line, { returned }) => {
    if (returned) return [sentOf(line), "that were sent can be refunded"];
    const more = sentOf(line) === 0 ? "" : `. For pieces that came back, set "returned"`;
    return [unsentOf(line), `that were not sent can be refunded${more}`];
  });
  const planned = lines.map((line): RefundedLine => {
    const { id: lineId, productId, variantId } = line;
    const piece = asked?.find(({ line_id }) => line_id === lineId);
    const left = isAll ? line.quantity - line.refundedQuantity : 0;
    const quantity = asked ? (piece?.quantity ?? 0) : left;
    const cancelled = piece?.returned ? 0 : Math.min(quantity, unsentOf(line));
    const amount = shareOf(line.totalMinor, line.refundedQuantity + quantity, line.quantity) - line.refundedMinor;
    const restocked = restock && line.isCounted ? quantity : 0;
    return { lineId, item: { productId, variantId }, quantity, cancelled, amount, restocked };
  });
  const after = (line: PaidLine, index: number) => line.refundedQuantity + (planned[index]?.quantity ?? 0);
  return {
    lines: planned.filter(({ quantity }) => quantity > 0),
    isWhole: lines.every((line, index) => after(line, index) === line.quantity),
    /** The value of all refunded goods, including this refund, before discount and tax. */
    refundedGoods: lines.reduce(
      (sum, line, at) => sum + shareOf(line.subtotalMinor, after(line, at), line.quantity),
      0,
    ),
  };
}

/** Counts the pieces of a line that were neither sent nor cancelled. */
export function unsentOf({ quantity, fulfilledQuantity, cancelledQuantity }: PaidLine): number {
  return quantity - fulfilledQuantity - cancelledQuantity;
}

/** Counts the pieces of a line that were sent and not refunded. */
export function sentOf(line: PaidLine): number {
  return line.fulfilledQuantity - (line.refundedQuantity - line.cancelledQuantity);
}

/**
 * Checks that `pieces` name different lines of the order, and that no line has more pieces than allowed. `limit`
 * returns the allowed number of pieces, and the words after that number in an error.
 * @throws validationFailed; wrongState for too many pieces.
 */
export function requirePieces<Piece extends { line_id: string; quantity: number }>(
  lines: readonly PaidLine[],
  pieces: readonly Piece[],
  limit: (line: PaidLine, piece: Piece) => [left: number, words: string],
): void {
  const seen = new Set<string>();
  for (const [index, piece] of pieces.entries()) {
    const { line_id: id, quantity } = piece;
    const field = `lines.${index}.quantity`;
    const line = lines.find((one) => one.id === id);
    if (!line) throw invalidField(`lines.${index}.line_id`, "is not a line of this order");
    if (seen.has(id)) throw invalidField(`lines.${index}.line_id`, "is repeated");
    seen.add(id);
    if (!Number.isInteger(quantity) || quantity < 1) throw invalidField(field, "must be a whole number of at least 1");
    const [left, words] = limit(line, piece);
    if (quantity <= left) continue;
    throw fieldError(wrongState, field, `is ${quantity}, but ${left} of ${line.sku ?? line.title} ${words}`);
  }
}

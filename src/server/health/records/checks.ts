import type { RecordCheck } from "../finding.ts";
import { dayCounts, pictureUses, productCounts, reactionCounts, viewCounts } from "./counts.ts";
import { dueOrders, numbers, orderPoints, orderStates, orderTotals, refunds } from "./orders.ts";
import { reservedStock, searchIndex, storedReplies, variantSums } from "./products.ts";
import { rewards } from "./rewards.ts";

/** In the order in which they run: values that others are computed from come first. */
export const recordChecks: readonly RecordCheck[] = [
  ...[orderStates, reservedStock, variantSums, storedReplies, orderTotals, refunds, numbers, rewards],
  ...[orderPoints, reactionCounts, dayCounts, viewCounts, productCounts, pictureUses, searchIndex, dueOrders],
];

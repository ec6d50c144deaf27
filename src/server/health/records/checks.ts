import type { Check } from "./check.ts";
import { databaseFile } from "./database-file.ts";
import { numbers } from "./order-numbers.ts";
import { orderPoints } from "./order-points.ts";
import { refunds } from "./order-refunds.ts";
import { orderStates } from "./order-states.ts";
import { orderTotals } from "./order-totals.ts";
import { productCounts } from "./product-counts.ts";
import { reactionCounts } from "./reaction-counts.ts";
import { reservedStock } from "./reserved-stock.ts";
import { rewards } from "./reward-balances.ts";
import { searchIndex } from "./search-index.ts";
import { variantSums } from "./variant-sums.ts";
import { viewCounts } from "./view-counts.ts";

/** All checks, in the order in which they run: what others follow from comes first. */
export const checks: readonly Check[] = [
  databaseFile,
  orderStates,
  reservedStock,
  variantSums,
  orderTotals,
  refunds,
  numbers,
  rewards,
  orderPoints,
  reactionCounts,
  viewCounts,
  productCounts,
  searchIndex,
];

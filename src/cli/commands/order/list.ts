import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { info, printJson, printList } from "../../terminal/output.ts";
import {
  formatAmount,
  formatCustomer,
  orderFilterFlags,
  orderNamespaceArg,
  readOrderFilter,
  resolveCustomer,
  toOrderRecord,
} from "./args.ts";

export default defineCommand({
  name: "list",
  description: "List the orders of a tenant, newest first",
  args: {
    namespace: orderNamespaceArg,
    ...orderFilterFlags,
    limit: { type: "string", valueHint: "number", default: "50", description: "How many at most" },
  },
  examples: [
    "bodega order list -n demo --since 7d",
    "bodega order list -n demo --status paid --customer ada@example.com",
    "bodega order list -n demo --since 2030-01-01 --until 2030-02-01 --limit 1000 --json",
  ],
  async run(args, console) {
    const limit = parseCount("--limit", args.limit);
    const filter = readOrderFilter(args, Date.now());
    const { views, hasMore } = await withTenant(args, console, async (ctx) => {
      const { listOrderViews } = await import("../../../server/modules/orders/views.ts");
      return listOrderViews(ctx, { ...filter, ...(await resolveCustomer(ctx, args.customer)) }, limit);
    });
    if (console.json) return printJson(console, views.map(toOrderRecord));
    await printList(console, views, {
      id: ({ order }) => order.id,
      empty: "There is no such order.",
      columns: [
        { header: "NUMBER", value: ({ order }) => String(order.number), whole: true },
        { header: "STATUS", value: ({ order }) => order.status, state: true },
        { header: "PAYMENT", value: ({ order }) => order.payment_status, state: true },
        { header: "CUSTOMER", value: formatCustomer },
        { header: "ITEMS", value: ({ order }) => String(countPieces(order.items)), whole: true },
        { header: "TOTAL", value: (view) => formatAmount(view.order.total_minor, view), whole: true },
        { header: "CREATED", value: ({ order }) => order.created_at },
      ],
    });
    if (hasMore) await info(console, `There are more than ${limit}: give a greater --limit.`);
  },
});

function countPieces(items: { quantity: number }[]): number {
  return items.reduce((sum, { quantity }) => sum + quantity, 0);
}

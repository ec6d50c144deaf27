import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { limitArg, noteLimit, requiredNamespaceArg } from "../../framework/list-args.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { printJson, printList } from "../../terminal/output.ts";
import { orderFilterFlags, readOrderFilter, resolveCustomer } from "./args.ts";
import { formatAmount, formatCustomer, toOrderRecord } from "./print.ts";

export default defineCommand({
  name: "list",
  description: "List the orders of a store, newest first",
  args: { namespace: requiredNamespaceArg, ...orderFilterFlags, limit: limitArg("50") },
  examples: [
    "bodega order list -n demo --since 7d",
    "bodega order list -n demo --status paid --customer ada@example.com",
    "bodega order list -n demo --since 2030-01-01 --until 2030-02-01 --limit 1000 --json",
  ],
  async run(args, console) {
    const limit = parseCount("--limit", args.limit);
    const filter = readOrderFilter(args, Date.now());
    const { listOrderViews } = await import("../../../server/modules/orders/views.ts");
    const { views, hasMore } = await withTenant(args, console, async (ctx) =>
      listOrderViews(ctx, { ...filter, ...(await resolveCustomer(ctx, args.customer)) }, limit),
    );
    if (console.json) return printJson(console, views.map(toOrderRecord));
    await printList(console, views, {
      id: ({ order }) => order.id,
      empty: "No orders found.",
      columns: [
        { header: "NUMBER", value: ({ order }) => String(order.number), whole: true },
        { header: "STATUS", value: ({ order }) => order.status, state: true },
        { header: "PAYMENT", value: ({ order }) => order.payment_status, state: true },
        { header: "TOTAL", value: (view) => formatAmount(view.order.total_minor, view), whole: true },
        { header: "CUSTOMER", value: formatCustomer },
        { header: "ITEMS", value: ({ order }) => String(order.items.reduce((sum, item) => sum + item.quantity, 0)) },
        { header: "CREATED", value: ({ order }) => order.created_at },
      ],
    });
    if (hasMore) await noteLimit(console, limit);
  },
});

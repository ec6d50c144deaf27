import { notFound } from "../../../server/errors.ts";
import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { printOrder } from "./print.ts";

export default defineCommand({
  name: "show",
  description: "Show an order with its lines, refunds and address",
  args: {
    order: { type: "positional", required: true, completes: "order", description: "Id or number of the order" },
    namespace: requiredNamespaceArg,
  },
  examples: ["bodega order show -n demo 17", "bodega order show -n demo ord_01k8z3v5x2f1rt9m6q7wbn4hcd --json"],
  async run(args, console) {
    const view = await withTenant(args, console, async (ctx) => {
      const { resolveOrderId } = await import("../../../server/modules/orders/resolve.ts");
      const { listOrderViews } = await import("../../../server/modules/orders/views.ts");
      return (await listOrderViews(ctx, { ids: await resolveOrderId(ctx, args.order) }, 1)).views[0];
    });
    if (view === undefined) throw notFound("order", args.order);
    await printOrder(console, view);
  },
});

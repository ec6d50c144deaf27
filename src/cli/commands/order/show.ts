import { AppError } from "../../../server/errors.ts";
import { withTenant } from "../../context.ts";
import { orderNamespaceArg } from "../../order.ts";
import { printOrder } from "../../order-sheet.ts";
import { defineVerb } from "../../verb.ts";

export default defineVerb({
  name: "show",
  description: "Show one order with its lines, refunds and address",
  args: {
    order: { type: "positional", required: true, description: "Id or number of the order" },
    namespace: orderNamespaceArg,
  },
  examples: ["bodega order show -n demo 17", "bodega order show -n demo ord_01k8z3v5x2f1rt9m6q7wbn4hcd --json"],
  async run(args, io) {
    const { order: given } = args;
    const isNumber = /^[1-9]\d{0,14}$/.test(given);
    const filter = isNumber ? { number: Number(given) } : { ids: given };
    const view = await withTenant(args, io, async (ctx) => {
      const { isId } = await import("../../../server/ids.ts");
      if (!isNumber && !isId("ord", given)) return undefined;
      const { listOrderViews } = await import("../../../server/modules/orders/order-views.ts");
      return (await listOrderViews(ctx, filter, 1)).views[0];
    });
    if (view === undefined) throw new AppError(5301, "There is no such order.");
    await printOrder(io, view);
  },
});

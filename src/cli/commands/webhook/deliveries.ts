import { defineCommand } from "../../framework/command.ts";
import { limitArg, requiredNamespaceArg } from "../../framework/list-args.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { formatValue, printList } from "../../terminal/output.ts";
import { webhookIdArg, withWebhook } from "./args.ts";

export default defineCommand({
  name: "deliveries",
  description: "List the deliveries of a webhook, newest event first",
  args: {
    webhook_id: webhookIdArg,
    namespace: requiredNamespaceArg,
    status: { type: "enum", options: ["waiting", "delivered", "failed"], description: "Filter by status" },
    limit: limitArg("50", 1000),
  },
  examples: [
    "bodega webhook deliveries -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd",
    "bodega webhook deliveries -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd --status failed --json",
  ],
  notes: ["Successful deliveries are kept for 7 days, failed ones for 30."],
  async run(args, console) {
    const limit = parseCount("--limit", args.limit);
    const { listDeliveries } = await import("../../../server/modules/webhooks/deliveries.ts");
    const { status } = args;
    const deliveries = await withWebhook(args, console, (ctx, id) => listDeliveries(ctx, id, { status, limit }));
    await printList(console, deliveries, {
      id: (delivery) => delivery.delivery_id,
      empty: "No deliveries found.",
      columns: [
        { header: "EVENT ID", value: (delivery) => formatValue(delivery.event_id), whole: true },
        { header: "TYPE", value: (delivery) => formatValue(delivery.type) },
        { header: "STATUS", value: (delivery) => delivery.status, state: true },
        { header: "ATTEMPTS", value: (delivery) => String(delivery.attempts) },
        { header: "NEXT ATTEMPT", value: (delivery) => formatValue(delivery.next_attempt_at) },
        { header: "LAST ERROR", value: (delivery) => formatValue(delivery.last_error) },
      ],
    });
  },
});

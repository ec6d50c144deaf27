import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseCount } from "../../framework/parse-values.ts";
import { formatValue, printList } from "../../terminal/output.ts";
import { webhookIdArg, withWebhook } from "./args.ts";

export default defineCommand({
  name: "deliveries",
  description: "List what a webhook was told and has still to be told, newest event first",
  args: {
    webhook_id: webhookIdArg,
    namespace: { ...namespaceArg, required: true },
    status: { type: "enum", options: ["waiting", "delivered", "failed"], description: "Only what this became of" },
    limit: { type: "string", valueHint: "number", default: "50", description: "How many at most, up to 1000" },
  },
  examples: [
    "bodega webhook deliveries -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd",
    "bodega webhook deliveries -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd --status failed --json",
  ],
  notes: ["What was delivered is listed for seven days, what failed for thirty."],
  async run(args, console) {
    const limit = parseCount("--limit", args.limit);
    const { listDeliveries } = await import("../../../server/modules/webhooks/deliveries.ts");
    const { status } = args;
    const deliveries = await withWebhook(args, console, (ctx, id) => listDeliveries(ctx, id, { status, limit }));
    await printList(console, deliveries, {
      id: (delivery) => delivery.delivery_id,
      empty: "There is no such delivery.",
      columns: [
        { header: "EVENT_ID", value: (delivery) => formatValue(delivery.event_id), whole: true },
        { header: "TYPE", value: (delivery) => formatValue(delivery.type) },
        { header: "STATUS", value: (delivery) => delivery.status, state: true },
        { header: "ATTEMPTS", value: (delivery) => String(delivery.attempts) },
        { header: "NEXT ATTEMPT", value: (delivery) => formatValue(delivery.next_attempt_at) },
        { header: "LAST ERROR", value: (delivery) => formatValue(delivery.last_error) },
      ],
    });
  },
});

import { withTenant } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { formatValue, printList } from "../../terminal/output.ts";

export default defineCommand({
  name: "list",
  description: "List a store's webhooks, and how they fare",
  args: {
    namespace: { ...namespaceArg, required: true },
    failing: { type: "boolean", description: "Only those whose deliveries have failed, or are being tried again" },
  },
  examples: [
    "bodega webhook list -n demo",
    "bodega webhook list -n demo --failing",
    "bodega webhook list -n demo --json",
  ],
  async run(args, console) {
    const { listWebhooks } = await import("../../../server/modules/webhooks/service.ts");
    const all = await withTenant(args, console, listWebhooks);
    const webhooks = args.failing ? all.filter(({ failed, last_error }) => failed > 0 || last_error !== null) : all;
    await printList(console, webhooks, {
      id: (webhook) => webhook.webhook_id,
      empty: args.failing && all.length > 0 ? "No webhook fails." : "The store has no webhooks.",
      columns: [
        { header: "WEBHOOK_ID", value: (webhook) => webhook.webhook_id, whole: true },
        { header: "URL", value: (webhook) => formatValue(webhook.url) },
        { header: "TYPES", value: (webhook) => formatValue(webhook.types) },
        { header: "WAITING", value: (webhook) => String(webhook.waiting) },
        { header: "DELIVERED", value: (webhook) => String(webhook.delivered) },
        { header: "FAILED", value: (webhook) => String(webhook.failed) },
        { header: "LAST ERROR", value: (webhook) => formatValue(webhook.last_error) },
      ],
    });
  },
});

import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { formatValue, printList } from "../../terminal/output.ts";

export default defineCommand({
  name: "list",
  description: "List the webhooks of a store and their deliveries",
  args: {
    namespace: requiredNamespaceArg,
    failing: { type: "boolean", description: "List only webhooks with failed or retried deliveries" },
  },
  examples: ["bodega webhook list -n demo", "bodega webhook list -n demo --failing --json"],
  async run(args, console) {
    const { listWebhooks } = await import("../../../server/modules/webhooks/service.ts");
    const all = await withTenant(args, console, listWebhooks);
    const webhooks = args.failing ? all.filter(({ failed, last_error }) => failed > 0 || last_error !== null) : all;
    await printList(console, webhooks, {
      id: (webhook) => webhook.webhook_id,
      empty: "No webhooks found.",
      columns: [
        { header: "WEBHOOK ID", value: (webhook) => webhook.webhook_id, whole: true },
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

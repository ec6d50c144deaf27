import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { info, printRecord } from "../../terminal/output.ts";
import { webhookIdArg, withWebhook } from "./args.ts";

export default defineCommand({
  name: "show",
  description: "Show a webhook and its deliveries",
  args: { webhook_id: webhookIdArg, namespace: requiredNamespaceArg },
  examples: [
    "bodega webhook show -n demo https://example.com/hooks",
    "bodega webhook show -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd --json",
  ],
  notes: ["The signing secret cannot be shown. To replace it: bodega webhook rotate -n <namespace> <webhook_id>"],
  async run(args, console) {
    const { getWebhookDetails } = await import("../../../server/modules/webhooks/service.ts");
    const webhook = await withWebhook(args, console, getWebhookDetails);
    await printRecord(console, webhook, "webhook_id");
    if (webhook.failed === 0) return;
    const failed = `bodega webhook deliveries -n ${args.namespace} ${webhook.webhook_id} --status failed`;
    await info(console, `List the failed deliveries: ${failed}`);
  },
});

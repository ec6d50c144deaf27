import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";
import { confirmAction, requireAnswer } from "../../terminal/prompt.ts";
import { webhookIdArg, withWebhook } from "./args.ts";

export default defineCommand({
  name: "remove",
  description: "Remove a webhook, with what it has still to deliver",
  args: { webhook_id: webhookIdArg, namespace: { ...namespaceArg, required: true } },
  examples: [
    "bodega webhook remove -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd",
    "bodega webhook remove -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd --yes --json",
  ],
  async run(args, console) {
    requireAnswer(console, `Remove ${args.webhook_id}? What it has not delivered is dropped.`);
    const { getWebhook, removeWebhook } = await import("../../../server/modules/webhooks/service.ts");
    const removed = await withWebhook(args, console, async (ctx, id) => {
      const { url } = await getWebhook(ctx, id);
      await confirmAction(console, `Remove ${id}, which goes to ${url}? What it has not delivered is dropped.`);
      return removeWebhook(ctx, id);
    });
    await printRecord(console, removed, "webhook_id");
  },
});

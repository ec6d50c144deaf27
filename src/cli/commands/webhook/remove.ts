import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { printRecord } from "../../terminal/output.ts";
import { confirmAction, requireAnswer } from "../../terminal/prompt.ts";
import { webhookIdArg, withWebhook } from "./args.ts";

export default defineCommand({
  name: "remove",
  description: "Remove a webhook and its queued deliveries",
  args: { webhook_id: webhookIdArg, namespace: requiredNamespaceArg },
  examples: ["bodega webhook remove -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd"],
  async run(args, console) {
    requireAnswer(console, `Remove webhook ${args.webhook_id}? Its queued deliveries are dropped.`);
    const { getWebhook, removeWebhook } = await import("../../../server/modules/webhooks/service.ts");
    const removed = await withWebhook(args, console, async (ctx, id) => {
      const { url } = await getWebhook(ctx, id);
      await confirmAction(console, `Remove webhook ${id} to ${url}? Its queued deliveries are dropped.`);
      return removeWebhook(ctx, id);
    });
    await printRecord(console, removed, "webhook_id");
  },
});

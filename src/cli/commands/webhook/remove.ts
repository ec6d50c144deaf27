import { namespaceArg } from "../../args.ts";
import { withTenant } from "../../context.ts";
import { printRecord } from "../../output.ts";
import { confirmAction } from "../../prompt.ts";
import { defineVerb } from "../../verb.ts";
import { webhookIdArg } from "../../webhook.ts";

export default defineVerb({
  name: "remove",
  description: "Remove a webhook, with what it has still to deliver",
  args: { webhook_id: webhookIdArg, namespace: { ...namespaceArg, required: true } },
  examples: [
    "bodega webhook remove -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd",
    "bodega webhook remove -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd --yes --json",
  ],
  async run(args, io) {
    await confirmAction(io, `Remove ${args.webhook_id}? What it has not delivered is dropped.`);
    const { removeWebhook } = await import("../../../server/modules/webhooks/service.ts");
    const removed = await withTenant(args, io, (ctx) => removeWebhook(ctx, args.webhook_id));
    await printRecord(io, removed, "webhook_id");
  },
});

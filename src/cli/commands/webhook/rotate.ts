import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { confirmAction, requireAnswer } from "../../terminal/prompt.ts";
import { secretFileArg } from "../key/args.ts";
import { deliverSigningSecret, webhookIdArg, withWebhook } from "./args.ts";

export default defineCommand({
  name: "rotate",
  description: "Replace the signing secret of a webhook",
  args: {
    webhook_id: webhookIdArg,
    namespace: requiredNamespaceArg,
    "secret-file": secretFileArg,
  },
  examples: ["bodega webhook rotate -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd"],
  notes: [
    "New deliveries are signed with the new secret only. Deliveries that the receiver rejects meanwhile are retried.",
  ],
  async run(args, console) {
    requireAnswer(console, `Replace the secret of webhook ${args.webhook_id}? The receiver must use the new one.`);
    const { getWebhook, rotateWebhook } = await import("../../../server/modules/webhooks/service.ts");
    const { webhook_id: id, url } = await withWebhook(args, console, getWebhook);
    await confirmAction(console, `Replace the secret of webhook ${id} to ${url}? The receiver must use the new one.`);
    await deliverSigningSecret(args, console, (ctx) => rotateWebhook(ctx, id));
  },
});

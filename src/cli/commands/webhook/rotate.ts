import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { confirmAction, requireAnswer } from "../../terminal/prompt.ts";
import { secretFileArg } from "../key/app-key.ts";
import { deliverSigningSecret, webhookIdArg, withWebhook } from "./args.ts";

export default defineCommand({
  name: "rotate",
  description: "Give a webhook a new signing secret",
  args: {
    webhook_id: webhookIdArg,
    namespace: { ...namespaceArg, required: true },
    "secret-file": secretFileArg,
  },
  examples: [
    "bodega webhook rotate -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd",
    "bodega webhook rotate -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd --yes --json",
  ],
  notes: [
    "What is sent from now on is signed with the new secret only; what the receiver refuses until then is tried again.",
  ],
  async run(args, console) {
    requireAnswer(console, `Replace the secret of ${args.webhook_id}? Its receiver must then have the new one.`);
    const { getWebhook, rotateWebhook } = await import("../../../server/modules/webhooks/service.ts");
    const { webhook_id: id, url } = await withWebhook(args, console, getWebhook);
    await confirmAction(
      console,
      `Replace the secret of ${id}, which goes to ${url}? Its receiver must then have the new one.`,
    );
    await deliverSigningSecret(args, console, (ctx) => rotateWebhook(ctx, id));
  },
});

import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { webhookIdArg, withWebhook } from "./args.ts";

export default defineCommand({
  name: "replay",
  description: "Tell a webhook of events again, by the running server",
  args: {
    webhook_id: webhookIdArg,
    namespace: { ...namespaceArg, required: true },
    event: { type: "string", valueHint: "event_id", description: "This event only" },
    after: { type: "string", valueHint: "event_id", description: "All events after this one" },
    failed: { type: "boolean", description: "All deliveries that have failed" },
  },
  oneOf: {
    question: "Which events?",
    ways: {
      failed: "those whose delivery has failed",
      event: "one event",
      after: "all after one event",
    },
  },
  examples: [
    "bodega webhook replay -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd --failed",
    "bodega webhook replay -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd --event evt_01k8z3v5x2f1rt9m6q7wbn4hcd --json",
  ],
  notes: ["Events are kept for thirty days. A message that is sent again has the same Webhook-Id."],
  async run(args, console) {
    const { event, after, failed } = args;
    if ([event !== undefined, after !== undefined, failed].filter(Boolean).length !== 1) {
      throw new UsageError("Give one of --event, --after and --failed.");
    }
    const choice = event !== undefined ? { event } : after !== undefined ? { after } : "failed";
    const { replayDeliveries } = await import("../../../server/modules/webhooks/deliveries.ts");
    const replayed = await withWebhook(args, console, (ctx, id) => replayDeliveries(ctx, id, choice));
    await printRecord(console, { replayed }, "replayed");
  },
});

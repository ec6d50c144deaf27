import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { printRecord } from "../../terminal/output.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { webhookIdArg, withWebhook } from "./args.ts";

export default defineCommand({
  name: "replay",
  description: "Deliver events to a webhook again",
  args: {
    webhook_id: webhookIdArg,
    namespace: requiredNamespaceArg,
    event: { type: "string", valueHint: "event_id", description: "Replay this event" },
    after: { type: "string", valueHint: "event_id", description: "Replay all events after this one" },
    failed: { type: "boolean", description: "Replay all failed deliveries" },
  },
  oneOf: {
    question: "Which events should be delivered again?",
    ways: {
      failed: "events with failed deliveries",
      event: "one event",
      after: "all events after one event",
    },
  },
  examples: [
    "bodega webhook replay -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd --failed",
    "bodega webhook replay -n demo whk_01k8z3v5x2f1rt9m6q7wbn4hcd --event evt_01k8z3v5x2f1rt9m6q7wbn4hcd --json",
  ],
  notes: ["Events are kept for 30 days. The Webhook-Id stays the same. The running server delivers them."],
  async run(args, console) {
    const { event, after, failed } = args;
    if ([event !== undefined, after !== undefined, failed].filter(Boolean).length !== 1) {
      throw new UsageError("Give exactly one of --event, --after and --failed.");
    }
    const choice = event !== undefined ? { event } : after !== undefined ? { after } : "failed";
    const { replayDeliveries } = await import("../../../server/modules/webhooks/deliveries.ts");
    const replayed = await withWebhook(args, console, (ctx, id) => replayDeliveries(ctx, id, choice));
    await printRecord(console, { replayed }, "replayed");
  },
});

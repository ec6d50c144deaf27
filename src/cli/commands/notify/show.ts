import type { MessageWithDeliveries } from "../../../server/modules/notifications/messages/message-model.ts";
import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { printMessage } from "./args.ts";

export default defineCommand({
  name: "show",
  description: "Show a notification and its delivery status",
  args: {
    message_id: { type: "positional", required: true, description: "Id of the notification" },
    namespace: requiredNamespaceArg,
  },
  examples: ["bodega notify show -n demo msg_01k8z3v5x2f1rt9m6q7wbn4hcd"],
  notes: [
    "Deliveries per status. waiting: queued or retried. sent: accepted by the push service. failed: given up. dropped: " +
      "the device is no longer registered. expired: not reached before the end of --ttl.",
    "Notifications are kept for 30 days.",
  ],
  async run(args, console) {
    const { getMessage } = await import("../../../server/modules/notifications/messages/messages.ts");
    const { json } = await withTenant(args, console, (ctx) => getMessage(ctx, args.message_id));
    await printMessage(console, JSON.parse(json) as MessageWithDeliveries);
  },
});

import type { MessageWithDeliveries } from "../../../server/modules/notifications/messages/message-model.ts";
import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { notifyNamespaceArg, printMessage } from "./args.ts";

export default defineCommand({
  name: "show",
  description: "Show a message, and what became of it",
  args: {
    message_id: { type: "positional", required: true, description: "Id of the message" },
    namespace: notifyNamespaceArg,
  },
  examples: [
    "bodega notify show -n demo msg_01k8z3v5x2f1rt9m6q7wbn4hcd",
    "bodega notify show -n demo msg_01k8z3v5x2f1rt9m6q7wbn4hcd --json",
  ],
  notes: [
    "Devices are counted by what became of them: waiting to be tried, or tried again; sent, which their push service has " +
      "taken; failed for good; dropped, since nobody is there any more; expired before they could be reached.",
    "Messages are kept for thirty days.",
  ],
  async run(args, console) {
    const { getMessage } = await import("../../../server/modules/notifications/messages/messages.ts");
    const { json } = await withTenant(args, console, (ctx) => getMessage(ctx, args.message_id));
    await printMessage(console, JSON.parse(json) as MessageWithDeliveries);
  },
});

import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { printRecord } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";

export default defineCommand({
  name: "remove",
  description: "Remove a browser or device, so that it gets no more notifications",
  args: {
    registration_id: { type: "positional", required: true, description: "Id of the registration" },
    namespace: requiredNamespaceArg,
  },
  examples: ["bodega notify remove -n demo reg_01k8z3v5x2f1rt9m6q7wbn4hcd"],
  notes: ["The browser or app can register again."],
  async run(args, console) {
    const { registration_id: id } = args;
    await confirmAction(console, `Remove device ${id}? It gets no more notifications.`);
    const { removeRegistration } = await import("../../../server/modules/notifications/registrations/registrations.ts");
    const removed = await withTenant(args, console, (ctx) => removeRegistration(ctx, id));
    await printRecord(console, removed, "registration_id");
  },
});

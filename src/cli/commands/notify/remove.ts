import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { notifyNamespaceArg } from "./args.ts";

export default defineCommand({
  name: "remove",
  description: "Forget a browser or device, so that it is told nothing more",
  args: {
    registration_id: { type: "positional", required: true, description: "Id of the registration" },
    namespace: notifyNamespaceArg,
  },
  examples: [
    "bodega notify remove -n demo reg_01k8z3v5x2f1rt9m6q7wbn4hcd",
    "bodega notify remove -n demo reg_01k8z3v5x2f1rt9m6q7wbn4hcd --yes --json",
  ],
  notes: ["A browser or app that asks again is registered again."],
  async run(args, console) {
    const { registration_id: id } = args;
    await confirmAction(console, `Forget ${id}? It is told nothing more.`);
    const { removeRegistration } = await import("../../../server/modules/notifications/registrations/registrations.ts");
    const removed = await withTenant(args, console, (ctx) => removeRegistration(ctx, id));
    await printRecord(console, removed, "registration_id");
  },
});

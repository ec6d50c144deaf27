import { withContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { tenantArg } from "./args.ts";

export default defineCommand({
  name: "suspend",
  description: "Close a tenant to every request, and lose nothing",
  args: { tenant: tenantArg, namespace: namespaceArg },
  examples: ["bodega tenant suspend demo", "bodega tenant suspend demo --yes"],
  notes: [
    "It takes effect on the next request, with the server running. Undo it with: bodega tenant resume <namespace>",
  ],
  async run(args, console) {
    await confirmAction(console, `Suspend ${args.tenant}? Every request to it will fail until it is resumed.`);
    const { suspendTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(console, await withContext(args, console, (ctx) => suspendTenant(ctx, args.tenant)), "namespace");
  },
});

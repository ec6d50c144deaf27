import { withContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { tenantArg } from "./args.ts";

export default defineCommand({
  name: "suspend",
  description: "Suspend a store: all its requests fail, and no data is lost",
  args: { tenant: tenantArg, namespace: namespaceArg },
  examples: ["bodega tenant suspend demo", "bodega tenant suspend demo --yes"],
  notes: ["Takes effect on the server's next request. To undo it: bodega tenant resume <namespace>"],
  async run(args, console) {
    await confirmAction(console, `Suspend store ${args.tenant}? All its requests fail until it is resumed.`);
    const { suspendTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(console, await withContext(args, console, (ctx) => suspendTenant(ctx, args.tenant)), "namespace");
  },
});

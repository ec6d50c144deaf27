import { withContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";
import { confirmName } from "../../terminal/prompt.ts";
import { tenantArg } from "./args.ts";

export default defineCommand({
  name: "delete",
  description: "Delete a tenant with all that belongs to it, for good",
  args: {
    tenant: tenantArg,
    confirm: { type: "string", valueHint: "namespace", description: "The same name again, where nobody can be asked" },
    namespace: namespaceArg,
  },
  examples: ["bodega tenant delete demo", "bodega tenant delete demo --confirm demo --json"],
  notes: ["It prints the tenant as it was. --yes is not enough for what cannot be undone."],
  async run(args, console) {
    const warning = `This deletes ${args.tenant} with its keys, products and everything else, for good.`;
    await confirmName(console, warning, args.tenant, args.confirm);
    const { deleteTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(console, await withContext(args, console, (ctx) => deleteTenant(ctx, args.tenant)), "namespace");
  },
});

import { withContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";
import { confirmName } from "../../terminal/prompt.ts";
import { tenantArg } from "./args.ts";

export default defineCommand({
  name: "delete",
  description: "Delete a store and all its data permanently",
  args: {
    tenant: tenantArg,
    confirm: {
      type: "string",
      valueHint: "namespace",
      description: "The namespace again, to confirm without a terminal",
    },
    namespace: namespaceArg,
  },
  examples: ["bodega tenant delete demo", "bodega tenant delete demo --confirm demo --json"],
  notes: ["Prints the deleted store. --yes does not confirm a deletion."],
  async run(args, console) {
    const warning = `This permanently deletes store ${args.tenant} with its keys, products, orders, users and all other data.`;
    await confirmName(console, warning, args.tenant, args.confirm);
    const { deleteTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(console, await withContext(args, console, (ctx) => deleteTenant(ctx, args.tenant)), "namespace");
  },
});

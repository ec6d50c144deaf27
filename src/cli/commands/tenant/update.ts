import { withContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { readTenantFlags, tenantArg, tenantFlags } from "./args.ts";

export default defineCommand({
  name: "update",
  description: "Update a store",
  args: { tenant: tenantArg, ...tenantFlags, namespace: namespaceArg },
  examples: ['bodega tenant update demo --title "The demo store"', "bodega tenant update demo --logo="],
  notes: ["Fields without a flag keep their value. An empty --domain=, --url= or --logo= clears the field."],
  async run(args, console) {
    const patch = readTenantFlags(args);
    if (Object.values(patch).every((value) => value === undefined)) {
      throw new UsageError("Nothing to change.", {
        hint: `Give at least one of --${Object.keys(tenantFlags).join(", --")}.`,
      });
    }
    const { updateTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(
      console,
      await withContext(args, console, (ctx) => updateTenant(ctx, args.tenant, patch)),
      "namespace",
    );
  },
});

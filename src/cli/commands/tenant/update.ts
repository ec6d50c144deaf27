import { namespaceArg } from "../../args.ts";
import { withContext } from "../../context.ts";
import { printRecord } from "../../output.ts";
import { readTenantFlags, tenantArg, tenantFlags } from "../../tenant-args.ts";
import { UsageError } from "../../usage-error.ts";
import { defineVerb } from "../../verb.ts";

export default defineVerb({
  name: "update",
  description: "Change what is said of a tenant",
  args: { tenant: tenantArg, ...tenantFlags, namespace: namespaceArg },
  examples: ['bodega tenant update demo --title "The demo store"', "bodega tenant update demo --logo="],
  notes: ["Only the flags given change anything. An empty --domain=, --url= or --logo= clears it."],
  async run(args, io) {
    const patch = readTenantFlags(args);
    if (Object.values(patch).every((value) => value === undefined)) {
      throw new UsageError("Nothing to change.", { hint: `Give one of --${Object.keys(tenantFlags).join(", --")}.` });
    }
    const { updateTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(io, await withContext(args, io, (ctx) => updateTenant(ctx, args.tenant, patch)), "namespace");
  },
});

import { namespaceArg } from "../../args.ts";
import { withContext } from "../../context.ts";
import { printRecord } from "../../output.ts";
import { confirmAction } from "../../prompt.ts";
import { tenantArg } from "../../tenant-args.ts";
import { defineVerb } from "../../verb.ts";

export default defineVerb({
  name: "suspend",
  description: "Close a tenant to every request, and lose nothing",
  args: { tenant: tenantArg, namespace: namespaceArg },
  examples: ["bodega tenant suspend demo", "bodega tenant suspend demo --yes"],
  notes: [
    "It takes effect on the next request, with the server running. Undo it with: bodega tenant resume <namespace>",
  ],
  async run(args, io) {
    await confirmAction(io, `Suspend ${args.tenant}? Every request to it will fail until it is resumed.`);
    const { suspendTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(io, await withContext(args, io, (ctx) => suspendTenant(ctx, args.tenant)), "namespace");
  },
});

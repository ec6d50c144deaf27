import { namespaceArg } from "../../args.ts";
import { withContext } from "../../context.ts";
import { printRecord } from "../../output.ts";
import { tenantArg } from "../../tenant-args.ts";
import { defineVerb } from "../../verb.ts";

export default defineVerb({
  name: "show",
  description: "Show one tenant",
  args: { tenant: tenantArg, namespace: namespaceArg },
  examples: ["bodega tenant show demo", "bodega tenant show demo --json"],
  async run(args, io) {
    const { getTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(io, await withContext(args, io, (ctx) => getTenant(ctx, args.tenant)), "namespace");
  },
});

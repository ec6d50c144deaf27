import { namespaceArg } from "../../args.ts";
import { withContext } from "../../context.ts";
import { printRecord } from "../../output.ts";
import { tenantArg } from "../../tenant-args.ts";
import { defineVerb } from "../../verb.ts";

export default defineVerb({
  name: "resume",
  description: "Open a suspended tenant again",
  args: { tenant: tenantArg, namespace: namespaceArg },
  examples: ["bodega tenant resume demo", "bodega tenant resume demo --json"],
  async run(args, io) {
    const { resumeTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(io, await withContext(args, io, (ctx) => resumeTenant(ctx, args.tenant)), "namespace");
  },
});

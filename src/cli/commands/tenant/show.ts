import { withContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";
import { tenantArg } from "./args.ts";

export default defineCommand({
  name: "show",
  description: "Show a store",
  args: { tenant: tenantArg, namespace: namespaceArg },
  examples: ["bodega tenant show demo"],
  async run(args, console) {
    const { getTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(console, await withContext(args, console, (ctx) => getTenant(ctx, args.tenant)), "namespace");
  },
});

import { withContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";
import { tenantArg } from "./args.ts";

export default defineCommand({
  name: "resume",
  description: "Reopen a suspended store",
  args: { tenant: tenantArg, namespace: namespaceArg },
  examples: ["bodega tenant resume demo"],
  async run(args, console) {
    const { resumeTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(console, await withContext(args, console, (ctx) => resumeTenant(ctx, args.tenant)), "namespace");
  },
});

import { beginContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { printRecord } from "../../terminal/output.ts";
import { newTenantArg, readTenantFlags, tenantFlags } from "./args.ts";

export default defineCommand({
  name: "create",
  description: "Create a store",
  args: { tenant: newTenantArg, ...tenantFlags, namespace: namespaceArg },
  examples: [
    'bodega tenant create demo --title "Demo store" --currency EUR',
    "bodega tenant create demo --domain shop.example.com --language pt-BR --json",
  ],
  notes: ["Defaults: the namespace as title, EUR as currency, en as language."],
  async run(args, console) {
    const { createTenant } = await import("../../../server/modules/tenants/service.ts");
    const tenant = await beginContext(args, console, (ctx) =>
      createTenant(ctx, { namespace: args.tenant, ...readTenantFlags(args) }),
    );
    await printRecord(console, tenant, "namespace");
  },
});

import { withContext } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { formatValue, printList } from "../../terminal/output.ts";

export default defineCommand({
  name: "list",
  description: "List stores by namespace",
  args: {
    status: { type: "enum", options: ["active", "suspended"], description: "Filter by status" },
    query: { type: "string", valueHint: "text", description: "Filter by text in namespace, title or domain" },
  },
  examples: ["bodega tenant list", "bodega tenant list --status suspended --query shop --json"],
  async run(args, console) {
    const { listTenants } = await import("../../../server/modules/tenants/service.ts");
    const { status, query: q } = args;
    const tenants = await withContext(args, console, (ctx) => listTenants(ctx, { status, q }));
    await printList(console, tenants, {
      id: (tenant) => tenant.namespace,
      empty: (status ?? q) ? "No stores found." : "No stores found. Create one: bodega tenant create <namespace>",
      columns: [
        { header: "NAMESPACE", value: (tenant) => tenant.namespace, whole: true },
        { header: "TITLE", value: (tenant) => tenant.title },
        { header: "STATUS", value: (tenant) => tenant.status, state: true },
        { header: "CURRENCY", value: (tenant) => tenant.currency, whole: true },
        { header: "DOMAIN", value: (tenant) => formatValue(tenant.domain) },
        { header: "CREATED", value: (tenant) => tenant.created_at },
      ],
    });
  },
});

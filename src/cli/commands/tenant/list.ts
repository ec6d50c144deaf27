import { withContext } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { formatValue, printList } from "../../terminal/output.ts";

export default defineCommand({
  name: "list",
  description: "List tenants by name",
  args: {
    status: { type: "enum", options: ["active", "suspended"], description: "Only those of this status" },
    query: { type: "string", valueHint: "text", description: "Only those whose namespace, title or domain holds this" },
  },
  examples: [
    "bodega tenant list",
    "bodega tenant list --status suspended --query shop --json",
    "bodega tenant list -q",
  ],
  async run(args, console) {
    const { listTenants } = await import("../../../server/modules/tenants/service.ts");
    const { status, query: q } = args;
    const isFiltered = status !== undefined || q !== undefined;
    await printList(console, await withContext(args, console, (ctx) => listTenants(ctx, { status, q })), {
      id: (tenant) => tenant.namespace,
      empty: isFiltered
        ? "There is no such tenant."
        : "There is no tenant yet. Make one: bodega tenant create <namespace>",
      columns: [
        { header: "NAMESPACE", value: (tenant) => tenant.namespace, whole: true },
        { header: "TITLE", value: (tenant) => tenant.title },
        { header: "DOMAIN", value: (tenant) => formatValue(tenant.domain) },
        { header: "CURRENCY", value: (tenant) => tenant.currency, whole: true },
        { header: "STATUS", value: (tenant) => tenant.status, state: true },
        { header: "CREATED", value: (tenant) => tenant.created_at },
      ],
    });
  },
});

import { withContext } from "../../context.ts";
import { formatValue, printList } from "../../output.ts";
import { defineVerb } from "../../verb.ts";

export default defineVerb({
  name: "list",
  description: "List all tenants by name",
  args: {},
  examples: ["bodega tenant list", "bodega tenant list --json", "bodega tenant list -q"],
  async run(args, io) {
    const { listTenants } = await import("../../../server/modules/tenants/service.ts");
    await printList(io, await withContext(args, io, listTenants), {
      id: (tenant) => tenant.namespace,
      empty: "There is no tenant yet. Make one: bodega tenant create <namespace>",
      columns: [
        { header: "NAMESPACE", value: (tenant) => tenant.namespace, whole: true },
        { header: "TITLE", value: (tenant) => tenant.title },
        { header: "DOMAIN", value: (tenant) => formatValue(tenant.domain) },
        { header: "CURRENCY", value: (tenant) => tenant.currency, whole: true },
        { header: "STATUS", value: (tenant) => tenant.status, whole: true },
        { header: "CREATED", value: (tenant) => tenant.created_at },
      ],
    });
  },
});

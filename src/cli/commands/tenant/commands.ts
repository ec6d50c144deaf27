import { beginContext, withContext } from "../../context/context.ts";
import { namespaceArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { formatValue, printList, printRecord } from "../../terminal/output.ts";
import { confirmAction, confirmName } from "../../terminal/prompt.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { newTenantArg, readTenantFlags, tenantArg, tenantFlags } from "./args.ts";

const create = defineCommand({
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

const list = defineCommand({
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

const show = defineCommand({
  name: "show",
  description: "Show a store",
  args: { tenant: tenantArg, namespace: namespaceArg },
  examples: ["bodega tenant show demo"],
  async run(args, console) {
    const { getTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(console, await withContext(args, console, (ctx) => getTenant(ctx, args.tenant)), "namespace");
  },
});

const update = defineCommand({
  name: "update",
  description: "Update a store",
  args: { tenant: tenantArg, ...tenantFlags, namespace: namespaceArg },
  examples: ['bodega tenant update demo --title "The demo store"', "bodega tenant update demo --logo="],
  notes: ["Fields without a flag keep their value. An empty --domain=, --url= or --logo= clears the field."],
  async run(args, console) {
    const patch = readTenantFlags(args);
    if (Object.values(patch).every((value) => value === undefined)) {
      throw new UsageError("Nothing to change.", {
        hint: `Give at least one of --${Object.keys(tenantFlags).join(", --")}.`,
      });
    }
    const { updateTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(
      console,
      await withContext(args, console, (ctx) => updateTenant(ctx, args.tenant, patch)),
      "namespace",
    );
  },
});

const suspend = defineCommand({
  name: "suspend",
  description: "Suspend a store: all its requests fail, and no data is lost",
  args: { tenant: tenantArg, namespace: namespaceArg },
  examples: ["bodega tenant suspend demo", "bodega tenant suspend demo --yes"],
  notes: ["Takes effect on the server's next request. To undo it: bodega tenant resume <namespace>"],
  async run(args, console) {
    await confirmAction(console, `Suspend store ${args.tenant}? All its requests fail until it is resumed.`);
    const { suspendTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(console, await withContext(args, console, (ctx) => suspendTenant(ctx, args.tenant)), "namespace");
  },
});

const resume = defineCommand({
  name: "resume",
  description: "Resume a suspended store",
  args: { tenant: tenantArg, namespace: namespaceArg },
  examples: ["bodega tenant resume demo"],
  async run(args, console) {
    const { resumeTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(console, await withContext(args, console, (ctx) => resumeTenant(ctx, args.tenant)), "namespace");
  },
});

const deleteTenant = defineCommand({
  name: "delete",
  description: "Delete a store and all its data permanently",
  args: {
    tenant: tenantArg,
    confirm: {
      type: "string",
      valueHint: "namespace",
      description: "The namespace again, to confirm without a terminal",
    },
    namespace: namespaceArg,
  },
  examples: ["bodega tenant delete demo", "bodega tenant delete demo --confirm demo --json"],
  notes: ["Prints the deleted store. --yes does not confirm a deletion."],
  async run(args, console) {
    const warning = `This permanently deletes store ${args.tenant} with its keys, products, orders, users and all other data.`;
    await confirmName(console, warning, args.tenant, args.confirm);
    const { deleteTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(console, await withContext(args, console, (ctx) => deleteTenant(ctx, args.tenant)), "namespace");
  },
});

export default [create, list, show, update, suspend, resume, deleteTenant];

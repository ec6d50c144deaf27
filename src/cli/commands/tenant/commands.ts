import type { SystemCtx } from "../../../server/context.ts";
import { parseNamespace } from "../../../server/modules/tenants/input.ts";
import type { TenantDetails } from "../../../server/modules/tenants/service.ts";
import { formatBytes, formatDuration } from "../../../server/values/units.ts";
import { beginContext, withContext } from "../../context/context.ts";
import { choiceArg, namespaceArg, type SharedValues, valueArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { type Console, printList, printRecord } from "../../terminal/console.ts";
import { confirmAction, confirmName } from "../../terminal/prompt.ts";
import { readTenantFlags, tenantFlags, updateFlags } from "./flags.ts";

const service = () => import("../../../server/modules/tenants/service.ts");

/** The argument that names the store of a `tenant` command. `-n` and BODEGA_NAMESPACE can name the store instead. */
const tenantWord = { valueHint: "namespace", fallback: "namespace", field: "namespace" } as const;
const tenantArg = wordArg("Namespace of the store", { ...tenantWord, completes: "namespace" });
const newTenantArg = wordArg("Namespace of the new store, such as my-shop", {
  ...tenantWord,
  parse: (_flag: string, text: string) => parseNamespace(text),
});

const tenantArgs = { tenant: tenantArg, namespace: namespaceArg };

function onTenant<T>(
  args: SharedValues & { tenant: string },
  console: Console,
  call: (ctx: SystemCtx, namespace: string) => Promise<T>,
): Promise<T> {
  return withContext(args, console, (ctx) => call(ctx, args.tenant));
}

export const createCommand = defineCommand({
  description: "Create a store",
  args: { tenant: newTenantArg, ...tenantFlags, namespace: namespaceArg },
  examples: ['bodega tenant create demo --title "Demo store" --currency EUR'],
  notes: ["Defaults: the namespace as title, EUR as currency, en as language."],
  done: "Created store {namespace}.",
  async run(args, console) {
    const { createTenant } = await service();
    const input = { namespace: args.tenant, ...readTenantFlags(args) };
    await printRecord(console, await beginContext(args, console, (ctx) => createTenant(ctx, input)));
  },
});

export const listCommand = defineCommand({
  description: "List stores by namespace",
  args: {
    status: choiceArg(["active", "suspended"], "Filter by status"),
    query: valueArg("text", "Filter by text in namespace, title or domain"),
  },
  examples: ["bodega tenant list --status suspended --query shop"],
  async run(args, console) {
    const { listTenants } = await service();
    const tenants = await withContext(args, console, (ctx) => listTenants(ctx, { status: args.status, q: args.query }));
    await printList(console, tenants, {
      empty: "No stores found. Create one: bodega tenant create <namespace>",
      columns: ["namespace", "title", "status", "currency", "domain", "created_at"],
    });
  },
});

const printTenant = (console: Console, tenant: TenantDetails) =>
  printRecord(console, console.json ? tenant : toFields(tenant));

function toFields(tenant: TenantDetails): object {
  return {
    ...tenant,
    token_lifetime: formatDuration(tenant.token_lifetime * 1000, true),
    media_quota: formatBytes(tenant.media_quota),
    hold: formatDuration(tenant.hold * 1000, true),
    transfer_hold: formatDuration(tenant.transfer_hold * 1000, true),
  };
}

export const showCommand = defineCommand({
  description: "Show a store",
  args: tenantArgs,
  examples: ["bodega tenant show demo"],
  run: async (args, console) => printTenant(console, await onTenant(args, console, (await service()).getTenant)),
});

export const updateCommand = defineCommand({
  description: "Update a store",
  args: { tenant: tenantArg, ...updateFlags, namespace: namespaceArg },
  examples: ["bodega tenant update demo --country DE --prices-include-tax yes --hold 2h --logo="],
  notes: [
    "Fields without a flag keep their value. An empty value, as in --logo=, clears an optional field.",
    "A change of taxes or of --hold affects only later orders. Existing orders keep their amounts, and their time to pay.",
  ],
  done: "Updated store {namespace}.",
  anyOf: Object.keys(updateFlags),
  async run(args, console) {
    const { "resource-type": declare = [], "remove-resource-type": remove = [] } = args;
    const { updateTenant } = await service();
    const patch = { ...readTenantFlags(args), types: { declare, remove } };
    await printTenant(console, await onTenant(args, console, (ctx, name) => updateTenant(ctx, name, patch)));
  },
});

export const suspendCommand = defineCommand({
  description: "Suspend a store: all its requests fail, and no data is lost",
  args: tenantArgs,
  examples: ["bodega tenant suspend demo"],
  notes: ["The server applies this to its next request. To undo it: bodega tenant resume <namespace>"],
  done: "Suspended store {namespace}.",
  async run(args, console) {
    await confirmAction(console, `Suspend store ${args.tenant}? All its requests fail until it is resumed.`);
    await printRecord(console, await onTenant(args, console, (await service()).suspendTenant));
  },
});

export const resumeCommand = defineCommand({
  description: "Resume a suspended store",
  args: tenantArgs,
  examples: ["bodega tenant resume demo"],
  done: "Resumed store {namespace}.",
  run: async (args, console) => printRecord(console, await onTenant(args, console, (await service()).resumeTenant)),
});

export const deleteCommand = defineCommand({
  description: "Delete a store and all its data permanently",
  args: {
    tenant: tenantArg,
    confirm: valueArg("namespace", "The namespace again, to confirm without a terminal"),
    namespace: namespaceArg,
  },
  examples: ["bodega tenant delete demo --confirm demo"],
  notes: ["Prints the deleted store. --yes does not confirm a deletion."],
  done: "Deleted store {namespace}.",
  async run(args, console) {
    const warning = `This permanently deletes store ${args.tenant} with its keys, products, orders, users and all other data.`;
    await confirmName(console, warning, args.tenant, args.confirm);
    const deleted = await onTenant(args, console, (await service()).deleteTenant);
    await printRecord(console, { ...deleted, status: "deleted" });
  },
});

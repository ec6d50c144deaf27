import type { SystemCtx } from "../../../server/context.ts";
import { parseNamespace, type TenantInput } from "../../../server/modules/tenants/input.ts";
import type { TenantDetails } from "../../../server/modules/tenants/service.ts";
import { formatBytes, formatDuration } from "../../../server/values/units.ts";
import { beginContext, withContext } from "../../context/context.ts";
import type { ArgValues, CommandArgs, SharedValues } from "../../framework/args.ts";
import { choiceArg, durationArg, namespaceArg, numberArg, valueArg, wordArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseDecimal, parseSize, parseWhole } from "../../framework/parse-values.ts";
import { type Console, printList, printRecord } from "../../terminal/console.ts";
import { confirmAction, confirmName } from "../../terminal/prompt.ts";

const service = () => import("../../../server/modules/tenants/service.ts");

/** The store that a `tenant` command works on; `-n` and BODEGA_NAMESPACE can name it instead. */
const tenantWord = { valueHint: "namespace", fallback: "namespace", field: "namespace" } as const;
const tenantArg = wordArg("Namespace of the store", { ...tenantWord, completes: "namespace" });
const newTenantArg = wordArg("Namespace of the new store, such as my-shop", {
  ...tenantWord,
  parse: (_flag: string, text: string) => parseNamespace(text),
});

const tenantFlags = {
  title: valueArg("text", "Name of the store"),
  domain: valueArg("host", "Host name of the store", { allowEmpty: true }),
  url: valueArg("url", "URL of the store's website", { allowEmpty: true }),
  currency: valueArg("code", "Currency of prices, an ISO 4217 code such as EUR"),
  "currency-sign": valueArg("sign", "Currency sign (default: the usual one)"),
  logo: valueArg("url", "URL of the logo", { allowEmpty: true }),
  language: valueArg("tag", "Default language of texts, such as en or pt-BR"),
  "token-lifetime": durationArg("Lifetime of new user tokens, such as 12h or 30d (5m to 400d; default: 30d)"),
  "points-rate": valueArg(
    "number",
    "Points earned per 100 minor units paid (1.00 EUR), such as 1.5; 0 for none (default: 1)",
    { parse: parseDecimal },
  ),
  "point-value": valueArg("amount", "Value of a point when it is spent, such as 0.01 (default: one minor unit)", {
    parse: parseDecimal,
  }),
  "points-days": valueArg("days", "Days until new points expire, or none (default: none)", {
    parse: (flag: string, text: string) => (text === "none" ? null : parseWhole(flag, text, "days, or none")),
  }),
  "address-writes": numberArg(
    "writes per minute",
    "Likes, bookmarks, views and registrations per minute and IP address; 0 for no limit (default: 1200)",
  ),
  "visitor-writes": numberArg("writes per minute", "The same limit per visitor or user (default: 240)"),
  "pending-orders": numberArg("orders", "Unpaid orders per customer or guest's address; 0 for no limit (default: 5)"),
  "stock-share": {
    ...numberArg("percent", "Share of an item's stock that these orders can reserve; at least 10 items (default: 20)"),
    valueHint: "percent",
  },
  "orders-per-minute": numberArg(
    "orders per minute",
    "Orders per minute and customer or guest's address; 0 for no limit (default: 10)",
  ),
  "media-quota": valueArg("size", "Space for uploaded pictures, such as 500MiB or 20GiB (default: 1GiB)", {
    parse: parseSize,
  }),
  "sign-up": choiceArg(
    ["off", "open", "verified"],
    "How customers create accounts: not at all, at once, or with a mailed code (default: verified)",
  ),
  "sign-in-by-mail": choiceArg(["off", "on"], "Whether customers can sign in with a mailed code (default: off)"),
} as const satisfies CommandArgs;

const updateFlags = {
  ...tenantFlags,
  "resource-type": valueArg(
    "type",
    "Declare a type of resources that can be liked, bookmarked and viewed, such as article",
    { multiple: true },
  ),
  "remove-resource-type": valueArg("type", "Remove a declared type that has no likes, bookmarks and views", {
    multiple: true,
  }),
} as const satisfies CommandArgs;

function readTenantFlags(args: ArgValues<typeof tenantFlags>): TenantInput {
  const camelCase = (flag: string) => flag.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
  const flags = Object.keys(tenantFlags) as (keyof typeof tenantFlags)[];
  const fields = flags.map((flag) => [camelCase(flag), args[flag]]);
  const lifetimeMs = args["token-lifetime"];
  return { ...Object.fromEntries(fields), tokenLifetime: lifetimeMs && lifetimeMs / 1000 };
}

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

function printTenant(console: Console, tenant: TenantDetails): Promise<void> {
  const token_lifetime = console.json ? tenant.token_lifetime : formatDuration(tenant.token_lifetime * 1000, true);
  const media_quota = console.json ? tenant.media_quota : formatBytes(tenant.media_quota);
  return printRecord(console, { ...tenant, token_lifetime, media_quota });
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
  examples: ['bodega tenant update demo --title "The demo store" --logo= --resource-type article'],
  notes: ["Fields without a flag keep their value. An empty --domain=, --url= or --logo= clears the field."],
  done: "Updated store {namespace}.",
  anyOf: Object.keys(updateFlags),
  async run(args, console) {
    const { "resource-type": declare = [], "remove-resource-type": remove = [] } = args;
    const patch = { ...readTenantFlags(args), types: { declare, remove } };
    const { updateTenant } = await service();
    await printTenant(console, await onTenant(args, console, (ctx, name) => updateTenant(ctx, name, patch)));
  },
});

export const suspendCommand = defineCommand({
  description: "Suspend a store: all its requests fail, and no data is lost",
  args: tenantArgs,
  examples: ["bodega tenant suspend demo"],
  notes: ["Takes effect on the server's next request. To undo it: bodega tenant resume <namespace>"],
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

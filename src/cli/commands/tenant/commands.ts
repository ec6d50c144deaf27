import { parseNamespace, type TenantInput } from "../../../server/modules/tenants/input.ts";
import type { TenantDetails } from "../../../server/modules/tenants/service.ts";
import { formatBytes, formatDuration } from "../../../server/values/units.ts";
import { beginContext, withContext } from "../../context/context.ts";
import {
  type Arg,
  type ArgValues,
  type CommandArgs,
  choiceArg,
  durationArg,
  namespaceArg,
  numberArg,
  valueArg,
  wordArg,
} from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { parseDecimal, parseSize, parseWhole } from "../../framework/parse-values.ts";
import { type Console, printList, printRecord } from "../../terminal/console.ts";
import { confirmAction, confirmName } from "../../terminal/prompt.ts";

/** The store that a `tenant` command works on; `-n` and BODEGA_NAMESPACE can name it instead. */
const tenantArg = wordArg("Namespace of the store", {
  valueHint: "namespace",
  fallback: "namespace",
  field: "namespace",
  completes: "namespace",
}) satisfies Arg;

const newTenantArg = {
  ...tenantArg,
  completes: undefined,
  check: parseNamespace,
  description: "Namespace of the new store, such as my-shop",
} as const satisfies Arg;

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
    ...numberArg(
      "percent",
      "Share of an item's whole stock that these can reserve, or 10 pieces if that is more (default: 20)",
    ),
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
    "Whether customers create accounts, at once or once they entered a mailed code (default: verified)",
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
  const { "token-lifetime": lifetimeMs } = args;
  const flags = Object.keys(tenantFlags) as (keyof typeof tenantFlags)[];
  const camelCase = (flag: string) => flag.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
  const fields = Object.fromEntries(flags.map((flag) => [camelCase(flag), args[flag]]));
  return { ...fields, tokenLifetime: lifetimeMs === undefined ? undefined : lifetimeMs / 1000 };
}

const tenantArgs = { tenant: tenantArg, namespace: namespaceArg };

const create = defineCommand({
  description: "Create a store",
  args: { tenant: newTenantArg, ...tenantFlags, namespace: namespaceArg },
  examples: ['bodega tenant create demo --title "Demo store" --currency EUR'],
  notes: ["Defaults: the namespace as title, EUR as currency, en as language."],
  done: "Created store {namespace}.",
  async run(args, console) {
    const { createTenant } = await import("../../../server/modules/tenants/service.ts");
    const tenant = await beginContext(args, console, (ctx) =>
      createTenant(ctx, { namespace: args.tenant, ...readTenantFlags(args) }),
    );
    await printRecord(console, tenant);
  },
});

const list = defineCommand({
  description: "List stores by namespace",
  args: {
    status: choiceArg(["active", "suspended"], "Filter by status"),
    query: valueArg("text", "Filter by text in namespace, title or domain"),
  },
  examples: ["bodega tenant list --status suspended --query shop"],
  async run(args, console) {
    const { listTenants } = await import("../../../server/modules/tenants/service.ts");
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

const show = defineCommand({
  description: "Show a store",
  args: tenantArgs,
  examples: ["bodega tenant show demo"],
  async run(args, console) {
    const { getTenant } = await import("../../../server/modules/tenants/service.ts");
    await printTenant(console, await withContext(args, console, (ctx) => getTenant(ctx, args.tenant)));
  },
});

const update = defineCommand({
  description: "Update a store",
  args: { tenant: tenantArg, ...updateFlags, namespace: namespaceArg },
  examples: ['bodega tenant update demo --title "The demo store" --logo= --resource-type article'],
  notes: ["Fields without a flag keep their value. An empty --domain=, --url= or --logo= clears the field."],
  done: "Updated store {namespace}.",
  anyOf: Object.keys(updateFlags),
  async run(args, console) {
    const { "resource-type": declare = [], "remove-resource-type": remove = [] } = args;
    const patch = { ...readTenantFlags(args), types: { declare, remove } };
    const { updateTenant } = await import("../../../server/modules/tenants/service.ts");
    await printTenant(console, await withContext(args, console, (ctx) => updateTenant(ctx, args.tenant, patch)));
  },
});

const suspend = defineCommand({
  description: "Suspend a store: all its requests fail, and no data is lost",
  args: tenantArgs,
  examples: ["bodega tenant suspend demo"],
  notes: ["Takes effect on the server's next request. To undo it: bodega tenant resume <namespace>"],
  done: "Suspended store {namespace}.",
  async run(args, console) {
    await confirmAction(console, `Suspend store ${args.tenant}? All its requests fail until it is resumed.`);
    const { suspendTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(console, await withContext(args, console, (ctx) => suspendTenant(ctx, args.tenant)));
  },
});

const resume = defineCommand({
  description: "Resume a suspended store",
  args: tenantArgs,
  examples: ["bodega tenant resume demo"],
  done: "Resumed store {namespace}.",
  async run(args, console) {
    const { resumeTenant } = await import("../../../server/modules/tenants/service.ts");
    await printRecord(console, await withContext(args, console, (ctx) => resumeTenant(ctx, args.tenant)));
  },
});

const deleteTenant = defineCommand({
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
    const { deleteTenant } = await import("../../../server/modules/tenants/service.ts");
    const deleted = await withContext(args, console, (ctx) => deleteTenant(ctx, args.tenant));
    await printRecord(console, { ...deleted, status: "deleted" });
  },
});

export default { create, list, show, update, suspend, resume, delete: deleteTenant };

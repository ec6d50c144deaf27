import type { Command, CommandGroup, Load } from "../framework/command.ts";

const group = (description: string, subCommands: CommandGroup["subCommands"]) => ({
  meta: { description },
  subCommands,
});
const byDefault = <T>(module: { default: T }) => module.default;

/**
 * Returns functions that load the commands of a module, which exports for example `set-password` as
 * `setPasswordCommand`. `names` repeats the names of the commands, so that help can list them without the module.
 */
function fromModule(loadAll: () => Promise<object>, names: string): Record<string, Load> {
  const load = async (name: string) => {
    const exported = `${name.replace(/-(.)/g, (_, letter) => letter.toUpperCase())}Command`;
    return Object.entries(await loadAll()).find(([one]) => one === exported)?.[1] as Command;
  };
  return Object.fromEntries(names.split(" ").map((name) => [name, () => load(name)]));
}

/** All commands. Each is imported only when needed, so that commands start fast. */
export const commandTree: CommandGroup = {
  meta: { description: "Bodega: a store-and-content back end in one executable" },
  subCommands: {
    serve: () => import("./serve/serve.ts").then((module) => module.default.serve),
    standby: () => import("./serve/serve.ts").then((module) => module.default.standby),
    init: () => import("./init/init.ts").then(byDefault),
    demo: () => import("./demo/demo.ts").then(byDefault),
    health: () => import("./health/health.ts").then(byDefault),
    doctor: () => import("./doctor/doctor.ts").then(byDefault),
    todo: () => import("./todo/todo.ts").then(byDefault),
    api: () => import("./api/api.ts").then(byDefault),
    mcp: () => import("./mcp/mcp.ts").then(byDefault),
    tenant: group("Manage stores (tenants)", {
      ...fromModule(() => import("./tenant/commands.ts"), "create list show update suspend resume delete"),
    }),
    key: group("Manage app keys, the credentials of backends and integrations", {
      ...fromModule(() => import("./key/key.ts"), "issue"),
      ...fromModule(
        () => import("./key/commands.ts"),
        "list show update publish unpublish activate deactivate rotate retire revoke",
      ),
    }),
    origin: group("Manage origins, the sites whose pages can use a key", {
      ...fromModule(() => import("./origin/commands.ts"), "add remove list set check"),
    }),
    order: group("Manage orders", {
      ...fromModule(() => import("./order/commands.ts"), "list show export"),
      create: () => import("./order/create.ts").then(byDefault),
      ...fromModule(() => import("./order/invoice.ts"), "invoice"),
      ...fromModule(() => import("./order/change.ts"), "pay fulfill cancel refund"),
      ...fromModule(() => import("./order/staff.ts"), "accept note revoke-access withdrawals"),
    }),
    report: group("Report sales and taxes, also by product and customer", {
      ...fromModule(() => import("./report/commands.ts"), "sales products customers tax"),
    }),
    payment: group("Connect a store with a provider of card payments", {
      ...fromModule(() => import("./payment/commands.ts"), "connect show check disconnect"),
    }),
    webhook: group("Manage webhooks, which receive the events of a store", {
      ...fromModule(() => import("./webhook/commands.ts"), "add list show deliveries replay test rotate remove"),
    }),
    event: group("Print and follow the events of a store", {
      ...fromModule(() => import("./event/tail.ts"), "tail"),
    }),
    notify: group("Send push notifications to customers, and list devices", {
      ...fromModule(() => import("./notify/commands.ts"), "send list show devices remove key"),
    }),
    product: group("Manage products", {
      ...fromModule(() => import("./product/commands.ts"), "list show export"),
      ...fromModule(() => import("./product/import.ts"), "import"),
      ...fromModule(() => import("./product/change.ts"), "create update delete restore stock"),
      image: group("Manage the pictures of products", {
        ...fromModule(() => import("./product/image.ts"), "add list remove"),
      }),
    }),
    category: group("Manage categories of products", {
      ...fromModule(() => import("./category/commands.ts"), "list create update delete"),
    }),
    shipping: group("Set and show the shipping rates of a store", {
      ...fromModule(() => import("./shipping/commands.ts"), "set show"),
    }),
    tax: group("Set and show the tax rates of a store", {
      ...fromModule(() => import("./tax/commands.ts"), "set show"),
    }),
    discount: group("Manage discount codes", {
      ...fromModule(() => import("./discount/commands.ts"), "create list show end"),
    }),
    mail: group("List, retry and test mail, and change its texts", {
      ...fromModule(() => import("./mail/commands.ts"), "list retry test"),
      ...fromModule(() => import("./mail/order.ts"), "preview resend"),
      template: group("Show and change the texts of mails", {
        ...fromModule(() => import("./mail/templates.ts"), "list show set reset"),
      }),
    }),
    user: group("Manage users", {
      ...fromModule(() => import("./user/commands.ts"), "create invite list show update set-password disable enable"),
      ...fromModule(() => import("./user/user.ts"), "delete export erase two-factor reset-two-factor"),
    }),
    token: group("List and revoke user tokens (sign-ins)", {
      ...fromModule(() => import("./token/commands.ts"), "list revoke"),
    }),
    audit: group("List and verify the audit log", {
      ...fromModule(() => import("./audit/commands.ts"), "list verify"),
    }),
    db: group("Migrate, back up, restore and check the database", {
      ...fromModule(() => import("./db/commands.ts"), "migrate status"),
      backup: () => import("./db/backup.ts").then(byDefault),
      restore: () => import("./db/restore.ts").then(byDefault),
      ...fromModule(() => import("./db/commands.ts"), "test-restore check rekey"),
    }),
    upgrade: () => import("./upgrade/upgrade.ts").then(byDefault),
    version: () => import("./version.ts").then(byDefault),
    completion: () => import("./completion.ts").then(byDefault),
  },
};

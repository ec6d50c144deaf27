import type { Command, CommandGroup, Load } from "../framework/command.ts";

const byDefault = <T>(module: { default: T }) => module.default;

/** Commands of one module. Their names are repeated here, so that listing them loads no module. */
function fromModule(loadAll: () => Promise<{ default: Record<string, Command> }>, names: string): Record<string, Load> {
  const load = async (name: string) => (await loadAll()).default[name] as Command;
  return Object.fromEntries(names.split(" ").map((name) => [name, () => load(name)]));
}

/** All commands. Each is imported only when needed, so that commands start fast. */
export const commandTree: CommandGroup = {
  meta: { description: "Bodega: a store-and-content back end in one executable." },
  subCommands: {
    serve: () => import("./serve/serve.ts").then(byDefault),
    standby: () => import("./serve/standby.ts").then(byDefault),
    init: () => import("./init/init.ts").then(byDefault),
    demo: () => import("./demo.ts").then(byDefault),
    health: () => import("./health/health.ts").then(byDefault),
    doctor: () => import("./doctor/doctor.ts").then(byDefault),
    top: () => import("./top/top.ts").then(byDefault),
    tenant: {
      meta: { description: "Manage stores (tenants)" },
      subCommands: fromModule(() => import("./tenant/commands.ts"), "create list show update suspend resume delete"),
    },
    key: {
      meta: { description: "Manage app keys, the credentials of backends and integrations" },
      subCommands: {
        issue: () => import("./key/issue.ts").then(byDefault),
        ...fromModule(
          () => import("./key/commands.ts"),
          "list show update publish unpublish activate deactivate rotate retire revoke",
        ),
      },
    },
    origin: {
      meta: { description: "Manage origins, the sites whose pages can use a key" },
      subCommands: fromModule(() => import("./origin/commands.ts"), "add remove list set check"),
    },
    order: {
      meta: { description: "Manage orders" },
      subCommands: {
        ...fromModule(() => import("./order/commands.ts"), "list show export"),
        ...fromModule(() => import("./order/change.ts"), "pay fulfill cancel refund"),
      },
    },
    webhook: {
      meta: { description: "Manage webhooks, which receive the events of a store" },
      subCommands: fromModule(() => import("./webhook/commands.ts"), "add list show deliveries replay rotate remove"),
    },
    notify: {
      meta: { description: "Send push notifications to customers, and list devices" },
      subCommands: fromModule(() => import("./notify/commands.ts"), "send list show devices remove key"),
    },
    product: {
      meta: { description: "Manage products" },
      subCommands: {
        ...fromModule(() => import("./product/commands.ts"), "list show export"),
        ...fromModule(() => import("./product/import.ts"), "import"),
        ...fromModule(() => import("./product/change.ts"), "create update delete restore stock"),
        image: {
          meta: { description: "Manage the pictures of products" },
          subCommands: fromModule(() => import("./product/image.ts"), "add list remove"),
        },
      },
    },
    category: {
      meta: { description: "Manage categories of products" },
      subCommands: fromModule(() => import("./category/commands.ts"), "list create update delete"),
    },
    mail: {
      meta: { description: "List, show, retry and test mail" },
      subCommands: fromModule(() => import("./mail/commands.ts"), "list show retry test"),
    },
    user: {
      meta: { description: "Manage users" },
      subCommands: fromModule(
        () => import("./user/commands.ts"),
        "create invite list show update set-password disable enable delete export erase two-factor reset-two-factor",
      ),
    },
    token: {
      meta: { description: "List and revoke user tokens (sign-ins)" },
      subCommands: fromModule(() => import("./token/commands.ts"), "list revoke"),
    },
    audit: {
      meta: { description: "List and verify the audit log" },
      subCommands: fromModule(() => import("./audit/commands.ts"), "list verify"),
    },
    db: {
      meta: { description: "Migrate, back up, restore and check the database" },
      subCommands: {
        ...fromModule(() => import("./db/commands.ts"), "migrate status"),
        backup: () => import("./db/backup.ts").then(byDefault),
        restore: () => import("./db/restore.ts").then(byDefault),
        ...fromModule(() => import("./db/commands.ts"), "test-restore check rekey"),
      },
    },
    upgrade: () => import("./upgrade/upgrade.ts").then(byDefault),
    version: () => import("./version.ts").then(byDefault),
    completion: () => import("./completion.ts").then(byDefault),
  },
};

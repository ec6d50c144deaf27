import type { Command } from "../framework/command.ts";
import type { CommandTree, Load } from "../framework/command-tree.ts";

/** Commands that share a module. Their names are written here, so that listing them loads no module. */
function fromModule(
  loadAll: () => Promise<{ default: Record<string, Command> }>,
  names: string,
  before = "",
): Record<string, Load> {
  const load = async (name: string) => ({ default: (await loadAll()).default[name] as Command });
  return Object.fromEntries(names.split(" ").map((name) => [before + name, () => load(name)]));
}

/** All commands. Each is imported only when it is needed, so that starting stays fast. */
export const commandTree: CommandTree = {
  serve: () => import("./serve/serve.ts"),
  standby: () => import("./serve/standby.ts"),
  init: () => import("./init/init.ts"),
  demo: () => import("./demo.ts"),
  health: () => import("./health/health.ts"),
  doctor: () => import("./doctor/doctor.ts"),
  top: () => import("./top/top.ts"),
  tenant: {
    description: "Manage stores (tenants)",
    commands: fromModule(() => import("./tenant/commands.ts"), "create list show update suspend resume delete"),
  },
  key: {
    description: "Manage app keys, the credentials of backends and integrations",
    commands: {
      issue: () => import("./key/issue.ts"),
      ...fromModule(
        () => import("./key/commands.ts"),
        "list show update publish unpublish activate deactivate rotate retire revoke",
      ),
    },
  },
  origin: {
    description: "Manage origins, the sites whose pages can use a key",
    commands: fromModule(() => import("./origin/commands.ts"), "add remove list set check"),
  },
  order: {
    description: "Manage orders",
    commands: {
      ...fromModule(() => import("./order/commands.ts"), "list show export"),
      ...fromModule(() => import("./order/change.ts"), "pay fulfill cancel refund"),
    },
  },
  webhook: {
    description: "Manage webhooks, which receive the events of a store",
    commands: fromModule(() => import("./webhook/commands.ts"), "add list show deliveries replay rotate remove"),
  },
  notify: {
    description: "Send push notifications to customers, and list devices",
    commands: fromModule(() => import("./notify/commands.ts"), "send list show devices remove key"),
  },
  product: {
    description: "Manage products",
    commands: {
      ...fromModule(() => import("./product/commands.ts"), "list show export"),
      ...fromModule(() => import("./product/import.ts"), "import"),
      ...fromModule(() => import("./product/change.ts"), "create update delete restore stock"),
      ...fromModule(() => import("./product/image.ts"), "add list remove import", "image "),
    },
  },
  category: {
    description: "Manage categories of products",
    commands: fromModule(() => import("./category/commands.ts"), "list create update delete"),
  },
  mail: {
    description: "List, show, retry and test mail",
    commands: fromModule(() => import("./mail/commands.ts"), "list show retry test"),
  },
  user: {
    description: "Manage users",
    commands: fromModule(
      () => import("./user/commands.ts"),
      "create invite list show update set-password disable enable delete export erase two-factor reset-two-factor",
    ),
  },
  token: {
    description: "List and revoke user tokens (sign-ins)",
    commands: fromModule(() => import("./token/commands.ts"), "list revoke"),
  },
  audit: {
    description: "List and verify the audit log",
    commands: fromModule(() => import("./audit/commands.ts"), "list verify"),
  },
  db: {
    description: "Migrate, back up, restore and check the database",
    commands: {
      ...fromModule(() => import("./db/commands.ts"), "migrate status"),
      backup: () => import("./db/backup.ts"),
      restore: () => import("./db/restore.ts"),
      ...fromModule(() => import("./db/commands.ts"), "rehearse check rekey"),
    },
  },
  upgrade: () => import("./upgrade/upgrade.ts"),
  version: () => import("./version.ts"),
  completion: () => import("./completion.ts"),
};

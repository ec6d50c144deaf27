import type { CommandTree } from "../framework/command-tree.ts";

/** All commands. Each is imported only when it is needed, so that starting stays fast. */
export const commandTree: CommandTree = {
  serve: () => import("./serve/serve.ts"),
  init: () => import("./init/init.ts"),
  demo: () => import("./demo/demo.ts"),
  health: () => import("./health/health.ts"),
  doctor: () => import("./doctor/doctor.ts"),
  top: () => import("./top/top.ts"),
  tenant: {
    description: "Manage stores (tenants)",
    commands: {
      create: () => import("./tenant/create.ts"),
      list: () => import("./tenant/list.ts"),
      show: () => import("./tenant/show.ts"),
      update: () => import("./tenant/update.ts"),
      suspend: () => import("./tenant/suspend.ts"),
      resume: () => import("./tenant/resume.ts"),
      delete: () => import("./tenant/delete.ts"),
    },
  },
  key: {
    description: "Manage app keys, the credentials of backends and integrations",
    commands: {
      issue: () => import("./key/issue.ts"),
      list: () => import("./key/list.ts"),
      show: () => import("./key/show.ts"),
      update: () => import("./key/update.ts"),
      publish: () => import("./key/publish.ts"),
      unpublish: () => import("./key/unpublish.ts"),
      activate: () => import("./key/activate.ts"),
      deactivate: () => import("./key/deactivate.ts"),
      rotate: () => import("./key/rotate.ts"),
      retire: () => import("./key/retire.ts"),
      revoke: () => import("./key/revoke.ts"),
    },
  },
  origin: {
    description: "Manage origins, the sites whose browsers can use a key",
    commands: {
      add: () => import("./origin/add.ts"),
      remove: () => import("./origin/remove.ts"),
      list: () => import("./origin/list.ts"),
      set: () => import("./origin/set.ts"),
      check: () => import("./origin/check.ts"),
    },
  },
  order: {
    description: "List, show and export orders",
    commands: {
      list: () => import("./order/list.ts"),
      show: () => import("./order/show.ts"),
      export: () => import("./order/export.ts"),
    },
  },
  webhook: {
    description: "Manage webhooks, which receive the events of a store",
    commands: {
      add: () => import("./webhook/add.ts"),
      list: () => import("./webhook/list.ts"),
      show: () => import("./webhook/show.ts"),
      deliveries: () => import("./webhook/deliveries.ts"),
      replay: () => import("./webhook/replay.ts"),
      rotate: () => import("./webhook/rotate.ts"),
      remove: () => import("./webhook/remove.ts"),
    },
  },
  notify: {
    description: "Send push notifications to customers, and list devices",
    commands: {
      send: () => import("./notify/send.ts"),
      list: () => import("./notify/list.ts"),
      show: () => import("./notify/show.ts"),
      devices: () => import("./notify/devices.ts"),
      remove: () => import("./notify/remove.ts"),
      key: () => import("./notify/key.ts"),
    },
  },
  product: {
    description: "List, show, import and export products",
    commands: {
      list: () => import("./product/list.ts"),
      show: () => import("./product/show.ts"),
      import: () => import("./product/import.ts"),
      export: () => import("./product/export.ts"),
    },
  },
  mail: {
    description: "List, show, retry and test mail",
    commands: {
      list: () => import("./mail/list.ts"),
      show: () => import("./mail/show.ts"),
      retry: () => import("./mail/retry.ts"),
      test: () => import("./mail/test.ts"),
    },
  },
  user: {
    description: "Manage users",
    commands: {
      create: () => import("./user/create.ts"),
      list: () => import("./user/list.ts"),
      show: () => import("./user/show.ts"),
      update: () => import("./user/update.ts"),
      "set-password": () => import("./user/set-password.ts"),
      disable: () => import("./user/disable.ts"),
      enable: () => import("./user/enable.ts"),
      delete: () => import("./user/delete.ts"),
      "reset-two-factor": () => import("./user/reset-two-factor.ts"),
    },
  },
  token: {
    description: "List and revoke user tokens (sign-ins)",
    commands: {
      list: () => import("./token/list.ts"),
      revoke: () => import("./token/revoke.ts"),
    },
  },
  audit: {
    description: "List and verify the audit log",
    commands: {
      list: () => import("./audit/list.ts"),
      verify: () => import("./audit/verify.ts"),
    },
  },
  db: {
    description: "Migrate, back up, restore and check the database",
    commands: {
      migrate: () => import("./db/migrate.ts"),
      status: () => import("./db/status.ts"),
      backup: () => import("./db/backup.ts"),
      restore: () => import("./db/restore.ts"),
      check: () => import("./db/check.ts"),
      rekey: () => import("./db/rekey.ts"),
    },
  },
  version: () => import("./version.ts"),
  completion: () => import("./completion.ts"),
};

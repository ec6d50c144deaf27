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
    description: "Stores: each has its own keys, products and everything else",
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
    description: "App keys: the credentials of backends and integrations",
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
    description: "Origins: the sites that a browser may use a key from",
    commands: {
      add: () => import("./origin/add.ts"),
      remove: () => import("./origin/remove.ts"),
      list: () => import("./origin/list.ts"),
      set: () => import("./origin/set.ts"),
      check: () => import("./origin/check.ts"),
    },
  },
  order: {
    description: "Orders: what was bought, and what became of it",
    commands: {
      list: () => import("./order/list.ts"),
      show: () => import("./order/show.ts"),
      export: () => import("./order/export.ts"),
    },
  },
  webhook: {
    description: "Webhooks: addresses that are told of a store's events",
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
    description: "Notifications: what a store tells the browsers and devices of its customers",
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
    description: "Products: what a store sells, into it from a file, and out of it",
    commands: {
      list: () => import("./product/list.ts"),
      show: () => import("./product/show.ts"),
      import: () => import("./product/import.ts"),
      export: () => import("./product/export.ts"),
    },
  },
  mail: {
    description: "Mail to users: what waits, what was sent, what failed",
    commands: {
      list: () => import("./mail/list.ts"),
      show: () => import("./mail/show.ts"),
      retry: () => import("./mail/retry.ts"),
      test: () => import("./mail/test.ts"),
    },
  },
  user: {
    description: "Users: who signs in to a store",
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
    description: "User tokens: what keeps users signed in",
    commands: {
      list: () => import("./token/list.ts"),
      revoke: () => import("./token/revoke.ts"),
    },
  },
  audit: {
    description: "The audit log: who did what, when and from where",
    commands: {
      list: () => import("./audit/list.ts"),
      verify: () => import("./audit/verify.ts"),
    },
  },
  db: {
    description: "The database: its schema and its key",
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

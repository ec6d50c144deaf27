import type { CommandTree } from "./walk-tree.ts";

/** All commands. Each is imported only when it is needed, so that starting stays fast. */
export const commandTree: CommandTree = {
  serve: () => import("./commands/serve.ts"),
  init: () => import("./commands/init.ts"),
  demo: () => import("./commands/demo.ts"),
  health: () => import("./commands/health.ts"),
  doctor: () => import("./commands/doctor.ts"),
  top: () => import("./commands/top.ts"),
  tenant: {
    description: "Stores: each has its own keys, products and everything else",
    verbs: {
      create: () => import("./commands/tenant/create.ts"),
      list: () => import("./commands/tenant/list.ts"),
      show: () => import("./commands/tenant/show.ts"),
      update: () => import("./commands/tenant/update.ts"),
      suspend: () => import("./commands/tenant/suspend.ts"),
      resume: () => import("./commands/tenant/resume.ts"),
      delete: () => import("./commands/tenant/delete.ts"),
    },
  },
  key: {
    description: "App keys: the credentials of backends and integrations",
    verbs: {
      issue: () => import("./commands/key/issue.ts"),
      list: () => import("./commands/key/list.ts"),
      show: () => import("./commands/key/show.ts"),
      update: () => import("./commands/key/update.ts"),
      publish: () => import("./commands/key/publish.ts"),
      unpublish: () => import("./commands/key/unpublish.ts"),
      activate: () => import("./commands/key/activate.ts"),
      deactivate: () => import("./commands/key/deactivate.ts"),
      rotate: () => import("./commands/key/rotate.ts"),
      retire: () => import("./commands/key/retire.ts"),
      revoke: () => import("./commands/key/revoke.ts"),
    },
  },
  origin: {
    description: "Origins: the sites that a browser may use a key from",
    verbs: {
      add: () => import("./commands/origin/add.ts"),
      remove: () => import("./commands/origin/remove.ts"),
      list: () => import("./commands/origin/list.ts"),
      set: () => import("./commands/origin/set.ts"),
      check: () => import("./commands/origin/check.ts"),
    },
  },
  order: {
    description: "Orders: what was bought, and what became of it",
    verbs: {
      list: () => import("./commands/order/list.ts"),
      show: () => import("./commands/order/show.ts"),
      export: () => import("./commands/order/export.ts"),
    },
  },
  webhook: {
    description: "Webhooks: addresses that are told of a store's events",
    verbs: {
      add: () => import("./commands/webhook/add.ts"),
      list: () => import("./commands/webhook/list.ts"),
      show: () => import("./commands/webhook/show.ts"),
      deliveries: () => import("./commands/webhook/deliveries.ts"),
      replay: () => import("./commands/webhook/replay.ts"),
      rotate: () => import("./commands/webhook/rotate.ts"),
      remove: () => import("./commands/webhook/remove.ts"),
    },
  },
  notify: {
    description: "Notifications: what a store tells the browsers and devices of its customers",
    verbs: {
      send: () => import("./commands/notify/send.ts"),
      list: () => import("./commands/notify/list.ts"),
      show: () => import("./commands/notify/show.ts"),
      devices: () => import("./commands/notify/devices.ts"),
      remove: () => import("./commands/notify/remove.ts"),
      key: () => import("./commands/notify/key.ts"),
    },
  },
  product: {
    description: "Products: what a store sells, into it from a file, and out of it",
    verbs: {
      list: () => import("./commands/product/list.ts"),
      show: () => import("./commands/product/show.ts"),
      import: () => import("./commands/product/import.ts"),
      export: () => import("./commands/product/export.ts"),
    },
  },
  mail: {
    description: "Mail to users: what waits, what was sent, what failed",
    verbs: {
      list: () => import("./commands/mail/list.ts"),
      show: () => import("./commands/mail/show.ts"),
      retry: () => import("./commands/mail/retry.ts"),
      test: () => import("./commands/mail/test.ts"),
    },
  },
  user: {
    description: "Users: who signs in to a store",
    verbs: {
      create: () => import("./commands/user/create.ts"),
      list: () => import("./commands/user/list.ts"),
      show: () => import("./commands/user/show.ts"),
      update: () => import("./commands/user/update.ts"),
      "set-password": () => import("./commands/user/set-password.ts"),
      disable: () => import("./commands/user/disable.ts"),
      enable: () => import("./commands/user/enable.ts"),
      delete: () => import("./commands/user/delete.ts"),
      "reset-two-factor": () => import("./commands/user/reset-two-factor.ts"),
    },
  },
  token: {
    description: "User tokens: what keeps users signed in",
    verbs: {
      list: () => import("./commands/token/list.ts"),
      revoke: () => import("./commands/token/revoke.ts"),
    },
  },
  audit: {
    description: "The audit log: who did what, when and from where",
    verbs: {
      list: () => import("./commands/audit/list.ts"),
      verify: () => import("./commands/audit/verify.ts"),
    },
  },
  db: {
    description: "The database: its schema and its key",
    verbs: {
      migrate: () => import("./commands/db/migrate.ts"),
      status: () => import("./commands/db/status.ts"),
      backup: () => import("./commands/db/backup.ts"),
      restore: () => import("./commands/db/restore.ts"),
      check: () => import("./commands/db/check.ts"),
      rekey: () => import("./commands/db/rekey.ts"),
    },
  },
  version: () => import("./commands/version.ts"),
  completion: () => import("./commands/completion.ts"),
};

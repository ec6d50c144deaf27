import { valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { printJson, printRecord } from "../../terminal/output.ts";
import { confirmName } from "../../terminal/prompt.ts";
import { userArg } from "./args.ts";
import { changeUser, withUser } from "./print.ts";

const userArgs = { user: userArg, namespace: requiredNamespaceArg };

export const exportUser = defineCommand({
  description: "Print all that is kept of a person, as JSON",
  args: userArgs,
  examples: ["bodega user export -n demo ada@example.com > ada.json"],
  notes: ["Passwords and other secrets are left out. The export is recorded in the audit log."],
  async run(args, console) {
    const { exportPerson } = await import("../../../server/modules/personal-data/export.ts");
    await printJson(console, await withUser(args, console, exportPerson));
  },
});

export const eraseUser = defineCommand({
  description: "Erase a person: delete the user and remove them from orders and logs",
  args: {
    ...userArgs,
    confirm: valueArg("email", "The user's email, to confirm without a terminal"),
  },
  examples: [
    "bodega user erase -n demo ada@example.com",
    "bodega user erase -n demo usr_01k8z3v5x2f1rt9m6q7wbn4hcd --confirm ada@example.com --json",
  ],
  notes: [
    "Orders keep their numbers, items and amounts, and lose customer, address and notes. The points ledger, the mail log and " +
      "the audit log lose notes and IP addresses. Backups made before still contain the person.",
    "Orders must be completed or cancelled first. --yes does not confirm an erasure, but is needed as well for the last " +
      "active owner.",
  ],
  done: "Erased user {user_id}.",
  async run(args, console) {
    const { getUser } = await import("../../../server/modules/users/service.ts");
    const { eraseUser } = await import("../../../server/modules/personal-data/erase.ts");
    const user = await withUser(args, console, getUser);
    const warning = `This permanently deletes user ${user.email} (${user.id}) and removes them from orders and logs.`;
    await confirmName(console, warning, user.email, args.confirm);
    await changeUser(args, console, (ctx) => eraseUser(ctx, user.id));
    await printRecord(console, { user_id: user.id, status: "erased" }, "user_id");
  },
});

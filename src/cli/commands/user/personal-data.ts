import type { Ctx } from "../../../server/context.ts";
import { type ArgValues, type CommandArgs, type SharedValues, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import type { Console } from "../../terminal/console.ts";
import { printJson, printRecord } from "../../terminal/output.ts";
import { confirmName } from "../../terminal/prompt.ts";
import { changeUser, toUserRecord, type User, user } from "./user.ts";

export const exportUser = defineCommand({
  description: "Print all that is kept of a person, as JSON",
  args: user.args,
  examples: ["bodega user export -n demo ada@example.com > ada.json"],
  notes: ["Passwords and other secrets are left out. The export is recorded in the audit log."],
  async run(args, console) {
    const { exportPerson } = await import("../../../server/modules/personal-data/service.ts");
    await printJson(console, await user.withRecord(args, console, exportPerson));
  },
});

const removalArgs = {
  ...user.args,
  confirm: valueArg("email", "The user's email, to confirm without a terminal"),
} as const satisfies CommandArgs;

async function removeUser(
  args: ArgValues<typeof removalArgs> & SharedValues,
  console: Console,
  effect: string,
  remove: (ctx: Ctx, id: string) => Promise<void>,
): Promise<User> {
  const { getUser } = await import("../../../server/modules/users/service.ts");
  const found = await user.withRecord(args, console, getUser);
  const warning = `This permanently deletes user ${found.email} (${found.id}) and ${effect}.`;
  await confirmName(console, warning, found.email, args.confirm);
  await changeUser(args, console, remove);
  return found;
}

export const deleteUser = defineCommand({
  description: "Delete a user permanently and end all their sessions",
  args: removalArgs,
  examples: ["bodega user delete -n demo ada@example.com --confirm ada@example.com"],
  notes: [
    "Their orders keep customer and address; `bodega user erase` removes these too. --yes does not confirm a deletion, but is " +
      "needed as well for the last active owner.",
  ],
  done: "Deleted user {email}.",
  async run(args, console) {
    const { deleteUser } = await import("../../../server/modules/users/service.ts");
    const remove = (ctx: Ctx, id: string) => deleteUser(ctx, id, null);
    const deleted = await removeUser(args, console, "all their personal data", remove);
    await printRecord(console, { ...toUserRecord(deleted), status: "deleted" });
  },
});

export const eraseUser = defineCommand({
  description: "Erase a person: delete the user and remove them from orders and logs",
  args: removalArgs,
  examples: ["bodega user erase -n demo ada@example.com --confirm ada@example.com"],
  notes: [
    "Orders keep their numbers, items and amounts, and lose customer, address and notes; they must be completed or cancelled " +
      "first. Backups made before still contain the person.",
  ],
  done: "Erased user {user_id}.",
  async run(args, console) {
    const { eraseUser } = await import("../../../server/modules/personal-data/service.ts");
    const { id } = await removeUser(args, console, "removes them from orders and logs", eraseUser);
    await printRecord(console, { user_id: id, status: "erased" });
  },
});

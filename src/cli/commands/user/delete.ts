import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { confirmName } from "../../terminal/prompt.ts";
import { userArg } from "./args.ts";
import { printUser } from "./print.ts";

export default defineCommand({
  name: "delete",
  description: "Delete a user permanently and end all their sessions",
  args: {
    user: userArg,
    namespace: requiredNamespaceArg,
    confirm: { type: "string", valueHint: "email", description: "The user's email, to confirm without a terminal" },
  },
  examples: [
    "bodega user delete -n demo ada@example.com",
    "bodega user delete -n demo usr_01k8z3v5x2f1rt9m6q7wbn4hcd --confirm ada@example.com --json",
  ],
  notes: ["Prints the deleted user. --yes does not confirm a deletion."],
  async run(args, console) {
    const { deleteUser, getUser } = await import("../../../server/modules/users/service.ts");
    const { resolveUserId } = await import("../../../server/modules/users/resolve.ts");
    const user = await withTenant(args, console, async (ctx) => {
      const found = await getUser(ctx, await resolveUserId(ctx, args.user));
      const warning = `This permanently deletes user ${found.email} (${found.id}) and all their personal data.`;
      await confirmName(console, warning, found.email, args.confirm);
      await deleteUser(ctx, found.id, null);
      return found;
    });
    await printUser(console, user);
  },
});

import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { confirmName } from "../../terminal/prompt.ts";
import { userArg, userNamespaceArg } from "./args.ts";
import { printUser } from "./print.ts";

export default defineCommand({
  name: "delete",
  description: "Delete a user for good, and sign them out everywhere",
  args: {
    user: userArg,
    namespace: userNamespaceArg,
    confirm: { type: "string", valueHint: "email", description: "The user's email, where nobody can be asked" },
  },
  examples: [
    "bodega user delete -n demo ada@example.com",
    "bodega user delete -n demo usr_01k8z3v5x2f1rt9m6q7wbn4hcd --confirm ada@example.com --json",
  ],
  notes: ["It prints the user as they were. --yes is not enough for what cannot be undone."],
  async run(args, console) {
    const { deleteUser, getUser } = await import("../../../server/modules/users/service.ts");
    const { resolveUserId } = await import("../../../server/modules/users/resolve.ts");
    const user = await withTenant(args, console, async (ctx) => {
      const found = await getUser(ctx, await resolveUserId(ctx, args.user));
      const warning = `This deletes ${found.email} (${found.id}) with all that is known of them, for good.`;
      await confirmName(console, warning, found.email, args.confirm);
      await deleteUser(ctx, found.id, null);
      return found;
    });
    await printUser(console, user);
  },
});

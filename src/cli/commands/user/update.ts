import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { UsageError } from "../../terminal/usage-error.ts";
import { readUserFlags, userArg, userFlags } from "./args.ts";
import { printUser, withUser } from "./print.ts";

export default defineCommand({
  name: "update",
  description: "Update a user",
  args: {
    user: userArg,
    namespace: requiredNamespaceArg,
    email: { type: "string", valueHint: "address", description: "Email to sign in with" },
    ...userFlags,
  },
  examples: [
    "bodega user update -n demo ada@example.com --role staff",
    "bodega user update -n demo ada@example.com --email ada@example.org --email-verified yes --phone=",
  ],
  notes: [
    "Fields without a flag keep their value. An empty --name= or --phone= clears the field. A new email is unverified " +
      "without --email-verified yes.",
  ],
  async run(args, console) {
    const patch = { ...(args.email !== undefined && { email: args.email }), ...readUserFlags(args) };
    if (Object.keys(patch).length === 0) {
      throw new UsageError("Nothing to change.", {
        hint: `Give at least one of --email, --${Object.keys(userFlags).join(", --")}.`,
      });
    }
    const { updateUser } = await import("../../../server/modules/users/change.ts");
    await printUser(console, await withUser(args, console, (ctx, id) => updateUser(ctx, id, patch, null)));
  },
});

import { defineCommand } from "../../framework/command.ts";
import { userArg, userNamespaceArg } from "./args.ts";
import { printUser, withUser } from "./print.ts";

export default defineCommand({
  name: "show",
  description: "Show one user",
  args: { user: userArg, namespace: userNamespaceArg },
  examples: ["bodega user show -n demo ada@example.com", "bodega user show -n demo ada@example.com --json"],
  async run(args, console) {
    const { getUser } = await import("../../../server/modules/users/service.ts");
    await printUser(console, await withUser(args, console, getUser));
  },
});

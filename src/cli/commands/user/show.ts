import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { userArg } from "./args.ts";
import { printUser, withUser } from "./print.ts";

export default defineCommand({
  name: "show",
  description: "Show a user",
  args: { user: userArg, namespace: requiredNamespaceArg },
  examples: ["bodega user show -n demo ada@example.com"],
  async run(args, console) {
    const { getUser } = await import("../../../server/modules/users/service.ts");
    await printUser(console, await withUser(args, console, getUser));
  },
});

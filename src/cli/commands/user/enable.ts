import { defineCommand } from "../../framework/command.ts";
import { userArg, userNamespaceArg } from "./args.ts";
import { printUser, withUser } from "./print.ts";

export default defineCommand({
  name: "enable",
  description: "Let a disabled user sign in again",
  args: { user: userArg, namespace: userNamespaceArg },
  examples: ["bodega user enable -n demo ada@example.com"],
  async run(args, console) {
    const { setStatus } = await import("../../../server/modules/users/change.ts");
    await printUser(console, await withUser(args, console, (ctx, id) => setStatus(ctx, id, "active")));
  },
});

import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { userArg } from "./args.ts";
import { printUser, withUser } from "./print.ts";

export default defineCommand({
  name: "enable",
  description: "Enable a disabled user",
  args: { user: userArg, namespace: requiredNamespaceArg },
  examples: ["bodega user enable -n demo ada@example.com"],
  async run(args, console) {
    const { setStatus } = await import("../../../server/modules/users/change.ts");
    await printUser(console, await withUser(args, console, (ctx, id) => setStatus(ctx, id, "active")));
  },
});

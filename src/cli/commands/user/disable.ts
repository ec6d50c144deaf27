import { defineCommand } from "../../framework/command.ts";
import { userArg, userNamespaceArg } from "./args.ts";
import { printUser, withUser } from "./print.ts";

export default defineCommand({
  name: "disable",
  description: "Keep a user from signing in, and sign them out everywhere",
  args: { user: userArg, namespace: userNamespaceArg },
  examples: ["bodega user disable -n demo ada@example.com"],
  notes: ["It takes effect on the next request, with the server running. Undo it with: bodega user enable"],
  async run(args, console) {
    const { setStatus } = await import("../../../server/modules/users/change.ts");
    await printUser(console, await withUser(args, console, (ctx, id) => setStatus(ctx, id, "disabled")));
  },
});

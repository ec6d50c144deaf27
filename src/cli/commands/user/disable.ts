import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { userArg } from "./args.ts";
import { printUser, withUser } from "./print.ts";

export default defineCommand({
  name: "disable",
  description: "Disable a user and end all their sessions",
  args: { user: userArg, namespace: requiredNamespaceArg },
  examples: ["bodega user disable -n demo ada@example.com"],
  notes: ["Takes effect on the server's next request. To undo it: bodega user enable -n <namespace> <user>"],
  async run(args, console) {
    const { setStatus } = await import("../../../server/modules/users/change.ts");
    await printUser(console, await withUser(args, console, (ctx, id) => setStatus(ctx, id, "disabled")));
  },
});

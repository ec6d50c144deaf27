import { printUser, withUser } from "../../user.ts";
import { userArg, userNamespaceArg } from "../../user-args.ts";
import { defineVerb } from "../../verb.ts";

export default defineVerb({
  name: "show",
  description: "Show one user",
  args: { user: userArg, namespace: userNamespaceArg },
  examples: ["bodega user show -n demo ada@example.com", "bodega user show -n demo ada@example.com --json"],
  async run(args, io) {
    const { getUser } = await import("../../../server/modules/users/service.ts");
    await printUser(io, await withUser(args, io, getUser));
  },
});

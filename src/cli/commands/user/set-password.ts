import { checkPasswordFlags, passwordFlags, takePassword } from "../../new-password.ts";
import { deliverPassword, printUser, withUser } from "../../user.ts";
import { userArg, userNamespaceArg } from "../../user-args.ts";
import { defineVerb } from "../../verb.ts";

export default defineVerb({
  name: "set-password",
  description: "Give a user another password, and sign them out everywhere",
  args: { user: userArg, namespace: userNamespaceArg, ...passwordFlags },
  examples: [
    "bodega user set-password -n demo ada@example.com --random-password",
    "bodega user set-password -n demo ada@example.com --password-stdin < password.txt",
  ],
  notes: ["At a terminal the password is asked for, hidden. Two-factor sign-in stays as it is."],
  async run(args, io) {
    checkPasswordFlags(args);
    const { getUser, setPassword } = await import("../../../server/modules/users/service.ts");
    const { password, isRandom } = await takePassword(args, io);
    const change = () =>
      withUser(args, io, async (ctx, id) => {
        await setPassword(ctx, id, password);
        return getUser(ctx, id);
      });
    if (isRandom) return deliverPassword(io, { password, path: args["password-file"] }, change);
    await printUser(io, await change());
  },
});

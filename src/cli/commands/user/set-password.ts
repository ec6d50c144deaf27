import { defineCommand } from "../../framework/command.ts";
import { checkPasswordFlags, passwordFlags, takePassword } from "../../secrets/passwords.ts";
import { userArg, userNamespaceArg } from "./args.ts";
import { deliverPassword, printUser, withUser } from "./print.ts";

export default defineCommand({
  name: "set-password",
  description: "Give a user another password, and sign them out everywhere",
  args: { user: userArg, namespace: userNamespaceArg, ...passwordFlags },
  examples: [
    "bodega user set-password -n demo ada@example.com --random-password",
    "bodega user set-password -n demo ada@example.com --password-stdin < password.txt",
  ],
  notes: ["At a terminal the password is asked for, hidden. Two-factor sign-in stays as it is."],
  async run(args, console) {
    checkPasswordFlags(args);
    const { getUser, setPassword } = await import("../../../server/modules/users/service.ts");
    const { password, isRandom } = await takePassword(args, console);
    const change = () =>
      withUser(args, console, async (ctx, id) => {
        await setPassword(ctx, id, password);
        return getUser(ctx, id);
      });
    if (isRandom) return deliverPassword(args, console, password, change);
    await printUser(console, await change());
  },
});

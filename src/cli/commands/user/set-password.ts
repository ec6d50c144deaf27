import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { checkPasswordFlags, passwordFlags, takePassword } from "../../secrets/passwords.ts";
import { userArg } from "./args.ts";
import { deliverPassword, printUser, withUser } from "./print.ts";

export default defineCommand({
  name: "set-password",
  description: "Set a user's password and end all their sessions",
  args: { user: userArg, namespace: requiredNamespaceArg, ...passwordFlags },
  examples: [
    "bodega user set-password -n demo ada@example.com --random-password",
    "bodega user set-password -n demo ada@example.com --password-stdin < password.txt",
  ],
  notes: ["At a terminal it asks for the password and hides it. Two-factor sign-in stays enabled."],
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

import { defineCommand } from "../../framework/command.ts";
import { checkPasswordFlags, passwordFlags, takePassword } from "../../secrets/passwords.ts";
import { userArg, userNamespaceArg } from "./args.ts";
import { deliverPassword, printUser, type User, withUser } from "./print.ts";

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
    const { changePassword, getUser, preparePassword } = await import("../../../server/modules/users/service.ts");
    const { password, isRandom } = await takePassword(args, console);
    const { inTransaction } = await import("../../../server/db/transaction.ts");
    const change = (give: (user: User) => Promise<void>) =>
      withUser(args, console, async (ctx, id) => {
        const hash = await preparePassword(password);
        return inTransaction(ctx, async (tx) => {
          await changePassword(tx, id, hash);
          const user = await getUser(tx, id);
          await give(user);
          return user;
        });
      });
    if (isRandom) return deliverPassword(args, console, password, change);
    await printUser(console, await change(async () => {}));
  },
});

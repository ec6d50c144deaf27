import { defineCommand } from "../../framework/command.ts";
import { info } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { userArg, userNamespaceArg } from "./args.ts";
import { printUser, withUser } from "./print.ts";

export default defineCommand({
  name: "reset-two-factor",
  description: "Switch a user's two-factor sign-in off, after the device was lost",
  args: { user: userArg, namespace: userNamespaceArg },
  examples: ["bodega user reset-two-factor -n demo ada@example.com --yes"],
  notes: ["The password alone signs in from then on, until the user switches two-factor on again."],
  async run(args, console) {
    await confirmAction(console, `Switch two-factor off for ${args.user}? The password alone will sign in.`);
    const { resetTwoFactor } = await import("../../../server/modules/two-factor/service.ts");
    const { getUser } = await import("../../../server/modules/users/service.ts");
    const { user, wasOn } = await withUser(args, console, async (ctx, id) => {
      const wasOn = await resetTwoFactor(ctx, id);
      return { user: await getUser(ctx, id), wasOn };
    });
    await printUser(console, user);
    if (!wasOn) await info(console, "Two-factor was not on; nothing has changed.");
  },
});

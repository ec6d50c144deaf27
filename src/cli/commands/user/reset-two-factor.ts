import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { info } from "../../terminal/output.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { userArg } from "./args.ts";
import { printUser, withUser } from "./print.ts";

export default defineCommand({
  name: "reset-two-factor",
  description: "Disable two-factor sign-in of a user who lost the device",
  args: { user: userArg, namespace: requiredNamespaceArg },
  examples: ["bodega user reset-two-factor -n demo ada@example.com --yes"],
  notes: ["The user can then sign in with the password alone, and enable two-factor sign-in again."],
  async run(args, console) {
    await confirmAction(
      console,
      `Disable two-factor sign-in of ${args.user}? The password alone is then enough to sign in.`,
    );
    const { resetTwoFactor } = await import("../../../server/modules/two-factor/service.ts");
    const { getUser } = await import("../../../server/modules/users/service.ts");
    const { user, wasOn } = await withUser(args, console, async (ctx, id) => {
      const wasOn = await resetTwoFactor(ctx, id);
      return { user: await getUser(ctx, id), wasOn };
    });
    await printUser(console, user);
    if (!wasOn) await info(console, "Two-factor sign-in was not enabled. Nothing was changed.");
  },
});

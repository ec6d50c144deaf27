import { parseEmail } from "../../../server/values/email.ts";
import { withTenant } from "../../context/context.ts";
import { valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { readUserFlags, userFlags } from "./args.ts";
import { printUser } from "./print.ts";

export const invite = defineCommand({
  description: "Mail a person a code to set their first password",
  args: {
    namespace: requiredNamespaceArg,
    email: {
      ...valueArg("address", "Email to sign in with"),
      required: true,
      check: (text) => parseEmail("email", text),
    },
    ...userFlags,
  },
  examples: ["bodega user invite -n demo --email ada@example.com --name Ada --role staff"],
  notes: [
    "Creates the user unless they exist without a password; their fields then stay as they are. The code is valid for " +
      "three days and is entered where passwords are reset (POST /auth/password/reset/).",
  ],
  done: "Invited {email}.",
  async run(args, console) {
    const { inviteUser } = await import("../../../server/modules/password-reset/invite.ts");
    const fields = { email: args.email, ...readUserFlags(args) };
    await printUser(console, await withTenant(args, console, (ctx) => inviteUser(ctx, fields)));
  },
});

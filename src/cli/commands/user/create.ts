import { withTenant } from "../../context/context.ts";
import { defineCommand } from "../../framework/command.ts";
import { requiredNamespaceArg } from "../../framework/list-args.ts";
import { checkPasswordFlags, passwordFlags, readSecretLine, takePassword } from "../../secrets/passwords.ts";
import { readUserFlags, userFlags } from "./args.ts";
import { deliverPassword, printUser } from "./print.ts";

export default defineCommand({
  name: "create",
  description: "Create a user of a store",
  args: {
    namespace: requiredNamespaceArg,
    email: { type: "string", valueHint: "address", required: true, description: "Email to sign in with" },
    ...userFlags,
    ...passwordFlags,
    "password-hash-stdin": {
      type: "boolean",
      field: "password_hash",
      description: "Read a bcrypt or argon2 hash from standard input, as one line",
    },
    password: { type: "boolean", default: true, description: "Set no password; the user resets it to sign in" },
  },
  examples: [
    "bodega user create -n demo --email ada@example.com --name Ada --random-password",
    "bodega user create -n demo --email ada@example.com --role staff --password-stdin --json",
    "bodega user create -n demo --email ada@example.com --password-file ada.password",
  ],
  notes: [
    "At a terminal it asks for the password and hides it. A password needs at least 16 characters with a lowercase " +
      "letter, an uppercase letter, a digit and a special character, and must not be a common one.",
  ],
  async run(args, console) {
    const { email, "password-hash-stdin": isHash } = args;
    checkPasswordFlags(args, { "--password-hash-stdin": isHash, "--no-password": !args.password });
    const { createUser } = await import("../../../server/modules/users/service.ts");
    const create = (secret: { password?: string; password_hash?: string }) =>
      withTenant(args, console, (ctx) => createUser(ctx, { email, ...readUserFlags(args), ...secret }));
    if (!args.password) return printUser(console, await create({}));
    if (isHash) {
      return printUser(
        console,
        await create({ password_hash: await readSecretLine(console, "--password-hash-stdin") }),
      );
    }
    const { password, isRandom } = await takePassword(args, console, ["--password-hash-stdin", "--no-password"]);
    if (isRandom) return deliverPassword(args, console, password, () => create({ password }));
    await printUser(console, await create({ password }));
  },
});

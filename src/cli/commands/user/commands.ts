import { collectPages, withTenant } from "../../context/context.ts";
import { choiceArg, limitArg, requiredNamespaceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { refuseTogether } from "../../framework/parse-values.ts";
import { passwordFlags, passwordGroups, passwordNote, readSecretLine, resolvePassword } from "../../secrets/secrets.ts";
import { formatValue, printList } from "../../terminal/console.ts";
import { confirmAction } from "../../terminal/prompt.ts";
import { deleteUser, eraseUser, exportUser, twoFactor } from "./account.ts";
import {
  changeUser,
  deliverPassword,
  newUserArgs,
  printUser,
  readUserFlags,
  toUserRecord,
  type User,
  user,
  userFlags,
} from "./user.ts";

const create = defineCommand({
  description: "Create a user of a store",
  args: {
    ...newUserArgs,
    ...passwordFlags,
    "password-hash-stdin": {
      type: "boolean",
      field: "password_hash",
      description: "Read a bcrypt or argon2 hash from standard input, as one line",
    },
    password: { type: "boolean", default: true, description: "Set no password; the user sets one with a reset code" },
  },
  examples: ["bodega user create -n demo --email ada@example.com --save-password-to ada.password"],
  notes: [passwordNote],
  done: "Created user {email}.",
  async run(args, console) {
    const { email, "password-hash-stdin": isHash } = args;
    refuseTogether(args, passwordGroups);
    const { createUser } = await import("../../../server/modules/users/service.ts");
    const create = (secret: { password?: string; password_hash?: string }) =>
      withTenant(args, console, (ctx) => createUser(ctx, { email, ...readUserFlags(args), ...secret }));
    if (isHash || !args.password) {
      const hash = isHash ? { password_hash: await readSecretLine(console, "--password-hash-stdin") } : {};
      return printUser(console, await create(hash));
    }
    const password = await resolvePassword(args, console, ["--password-hash-stdin", "--no-password"]);
    await deliverPassword(args, console, password, () => create({ password: password.password }));
  },
});

const invite = defineCommand({
  description: "Mail a person a code to set their first password",
  args: newUserArgs,
  examples: ["bodega user invite -n demo --email ada@example.com --name Ada --role staff"],
  notes: [
    "Creates the user unless they exist without a password. The code is valid for three days and is entered where passwords " +
      "are reset (POST /auth/password/reset/).",
  ],
  done: "Invited {email}.",
  async run(args, console) {
    const { inviteUser } = await import("../../../server/modules/password-reset/service.ts");
    const fields = { email: args.email, ...readUserFlags(args) };
    await printUser(console, await withTenant(args, console, (ctx) => inviteUser(ctx, fields)));
  },
});

const list = defineCommand({
  description: "List the users of a store, newest first",
  args: {
    namespace: requiredNamespaceArg,
    query: valueArg("text", "Filter by the beginning of email or name", { field: "q" }),
    role: choiceArg(["customer", "staff", "owner"], "Filter by role"),
    status: choiceArg(["active", "disabled"], "Filter by status"),
    limit: limitArg("1000"),
  },
  examples: ["bodega user list -n demo --role staff", "bodega user list -n demo --query ada --limit 100000 --json"],
  async run(args, console) {
    const { query: q, role, status, limit } = args;
    const { listUsers } = await import("../../../server/modules/users/list.ts");
    const users = await withTenant(args, console, (ctx) =>
      collectPages<User>(limit, (page) => listUsers(ctx, { q, role, status, ...page })),
    );
    await printList(console, users.map(toUserRecord), {
      empty: `No users found. Create one: bodega user create -n ${args.namespace} --email <address>`,
      columns: [
        ...(["user_id", "email", "name", "role", "status"] as const),
        { header: "TWO-FACTOR", value: (user) => formatValue(user.two_factor_enabled) },
        { header: "LAST SIGN-IN", value: (user) => formatValue(user.last_login_at) },
      ],
      limit,
    });
  },
});

const show = defineCommand({
  description: "Show a user",
  args: user.args,
  examples: ["bodega user show -n demo ada@example.com"],
  async run(args, console) {
    const { getUser } = await import("../../../server/modules/users/service.ts");
    await printUser(console, await user.withRecord(args, console, getUser));
  },
});

const update = defineCommand({
  description: "Update a user",
  args: { ...user.args, email: valueArg("address", "Email to sign in with"), ...userFlags },
  examples: ["bodega user update -n demo ada@example.com --role staff --phone="],
  notes: ["Fields without a flag keep their value; an empty --name= or --phone= clears it. A new email is unverified."],
  done: "Updated user {email}.",
  anyOf: ["email", ...Object.keys(userFlags)],
  async run(args, console) {
    const patch = { email: args.email, ...readUserFlags(args) };
    const { updateUser } = await import("../../../server/modules/users/change.ts");
    await printUser(console, await changeUser(args, console, (ctx, id) => updateUser(ctx, id, patch, null)));
  },
});

const setPassword = defineCommand({
  description: "Set a user's password and end all their sessions",
  args: { ...user.args, ...passwordFlags },
  examples: ["bodega user set-password -n demo ada@example.com --password-stdin < password.txt"],
  notes: [passwordNote, "Two-factor sign-in stays enabled."],
  done: "Set the password of user {email}.",
  async run(args, console) {
    refuseTogether(args, passwordGroups);
    const { getUser, setPassword } = await import("../../../server/modules/users/service.ts");
    const password = await resolvePassword(args, console);
    await deliverPassword(args, console, password, () =>
      user.withRecord(args, console, async (ctx, id) => {
        await setPassword(ctx, id, password.password);
        return getUser(ctx, id);
      }),
    );
  },
});

function defineStatusCommand(name: "disable" | "enable", description: string, notes: string[]) {
  return defineCommand({
    description,
    args: user.args,
    examples: [`bodega user ${name} -n demo ada@example.com`],
    notes,
    done: name === "disable" ? "Disabled user {email}." : "Enabled user {email}.",
    async run(args, console) {
      const { updateUser } = await import("../../../server/modules/users/change.ts");
      const status = name === "disable" ? "disabled" : "active";
      await printUser(console, await changeUser(args, console, (ctx, id) => updateUser(ctx, id, { status }, null)));
    },
  });
}

const resetTwoFactor = defineCommand({
  description: "Disable two-factor sign-in for a user who lost the authenticator",
  args: user.args,
  examples: ["bodega user reset-two-factor -n demo ada@example.com --yes"],
  notes: ["The user can then sign in with the password alone, and enable two-factor sign-in again."],
  done: "Disabled two-factor sign-in of user {email}.",
  async run(args, console) {
    const question = `Disable two-factor sign-in of ${args.user}? The password alone is then enough to sign in.`;
    await confirmAction(console, question);
    const { resetTwoFactor } = await import("../../../server/modules/two-factor/service.ts");
    const { getUser } = await import("../../../server/modules/users/service.ts");
    const { after, wasOn } = await user.withRecord(args, console, async (ctx, id) => {
      const wasOn = await resetTwoFactor(ctx, id);
      return { after: await getUser(ctx, id), wasOn };
    });
    const done = wasOn ? console.done : "Two-factor sign-in was not enabled. Nothing was changed.";
    await printUser({ ...console, done }, after);
  },
});

export default {
  create,
  invite,
  list,
  show,
  update,
  "set-password": setPassword,
  disable: defineStatusCommand("disable", "Disable a user and end all their sessions", [
    "Takes effect on the server's next request. To undo it: bodega user enable -n <namespace> <user>",
  ]),
  enable: defineStatusCommand("enable", "Enable a disabled user", []),
  delete: deleteUser,
  export: exportUser,
  erase: eraseUser,
  "two-factor": twoFactor,
  "reset-two-factor": resetTwoFactor,
};

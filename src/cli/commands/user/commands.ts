import type { Ctx } from "../../../server/context.ts";
import type { UserFields } from "../../../server/modules/users/input.ts";
import { parseEmail } from "../../../server/values/email.ts";
import { collectPages, withTenant } from "../../context/context.ts";
import { limitArg } from "../../context/list-args.ts";
import { defineAct, defineList } from "../../context/store-command.ts";
import { type ArgValues, type CommandArgs, choiceArg, requiredNamespaceArg, valueArg } from "../../framework/args.ts";
import { defineCommand } from "../../framework/command.ts";
import { passwordFlags, passwordGroups, passwordNote } from "../../secrets/secrets.ts";
import { formatValue } from "../../terminal/console.ts";
import { deliverPassword, printUser, toUserRecord, type User, user } from "./user.ts";

const service = () => import("../../../server/modules/users/service.ts");

const userFlags = {
  name: valueArg("text", "Name of the user", { allowEmpty: true }),
  phone: valueArg("number", "Phone number", { allowEmpty: true }),
  role: choiceArg(["customer", "staff", "owner"], "Role: staff manage the store, owners also manage staff"),
  lang: valueArg("tag", "Language of mail to the user, such as en or pt-BR"),
  "email-verified": choiceArg(["yes", "no"], "Whether the email is verified"),
} as const satisfies CommandArgs;

const newUserArgs = {
  namespace: requiredNamespaceArg,
  email: valueArg("address", "Email to sign in with", {
    required: true,
    parse: (_flag: string, text: string) => parseEmail("email", text).email,
  }),
  ...userFlags,
} as const satisfies CommandArgs;

function readUserFlags({ name, phone, role, lang, "email-verified": verified }: ArgValues<typeof userFlags>) {
  return { name, phone, role, lang, email_verified: verified && verified === "yes" };
}

export const createCommand = defineCommand({
  description: "Create a user of a store",
  args: {
    ...newUserArgs,
    ...passwordFlags,
    "no-password": { type: "boolean", description: "Set no password; the user sets one with a reset code" },
  },
  examples: ["bodega user create -n demo --email ada@example.com --save-password-to ada.password"],
  notes: [passwordNote],
  exclusive: passwordGroups,
  done: "Created user {email}.",
  async run(args, console) {
    const { createUser } = await service();
    const create = (secret: { password?: string }) =>
      withTenant(args, console, (ctx) => createUser(ctx, { email: args.email, ...readUserFlags(args), ...secret }));
    if (args["no-password"]) await printUser(console, await create({}));
    else await deliverPassword(args, console, create);
  },
});

export const inviteCommand = defineAct({
  description: "Mail a person a code to set their first password",
  args: newUserArgs,
  examples: ["bodega user invite -n demo --email ada@example.com --name Ada --role staff"],
  notes: [
    "Creates the user, or mails another code if the user exists without a password. The code is valid for three days. The " +
      "person enters it on the page that resets passwords (POST /auth/password/reset/).",
  ],
  done: "Invited {email}.",
  async act(ctx, args) {
    const { inviteUser } = await import("../../../server/modules/password-reset/service.ts");
    return inviteUser(ctx, { email: args.email, ...readUserFlags(args) });
  },
  print: printUser,
});

export const listCommand = defineList({
  description: "List the users of a store, newest first",
  args: {
    query: valueArg("text", "Filter by the beginning of email or name", { field: "q" }),
    role: choiceArg(["customer", "staff", "owner"], "Filter by role"),
    status: choiceArg(["active", "disabled"], "Filter by status"),
    limit: limitArg("1000"),
  },
  examples: ["bodega user list -n demo --role staff", "bodega user list -n demo --query ada --limit 100000 --json"],
  async rows(ctx, { query: q, role, status, limit }) {
    const { listUsers } = await import("../../../server/modules/users/list.ts");
    const users = await collectPages<User>(limit, (page) => listUsers(ctx, { q, role, status, ...page }));
    return users.map(toUserRecord);
  },
  empty: "No users found. Create one: bodega user create -n {namespace} --email <address>",
  columns: [
    ...(["user_id", "email", "name", "role", "status"] as const),
    { header: "TWO-FACTOR", value: (user) => formatValue(user.two_factor_enabled) },
    { header: "LAST SIGN-IN", value: (user) => formatValue(user.last_login_at) },
  ],
});

export const showCommand = defineAct({
  description: "Show a user",
  args: user.args,
  examples: ["bodega user show -n demo ada@example.com"],
  act: async (ctx, args) => (await service()).getUser(ctx, await user.find(ctx, args.user)),
  print: printUser,
});

async function update(ctx: Ctx, named: string, patch: UserFields): Promise<User> {
  return (await service()).updateUser(ctx, await user.find(ctx, named), patch, null);
}

export const updateCommand = defineAct({
  description: "Update a user",
  args: { ...user.args, email: valueArg("address", "Email to sign in with"), ...userFlags },
  examples: ["bodega user update -n demo ada@example.com --role staff --phone="],
  notes: [
    "Fields without a flag keep their value; an empty --name= or --phone= clears it. A new email is unverified, and the old address gets a mail.",
  ],
  done: "Updated user {email}.",
  anyOf: ["email", ...Object.keys(userFlags)],
  act: (ctx, args) => update(ctx, args.user, { email: args.email, ...readUserFlags(args) }),
  print: printUser,
});

export const setPasswordCommand = defineCommand({
  description: "Set a user's password and end all their sessions",
  args: { ...user.args, ...passwordFlags },
  examples: ["bodega user set-password -n demo ada@example.com --password-stdin < password.txt"],
  notes: [passwordNote, "Two-factor sign-in stays enabled."],
  exclusive: passwordGroups,
  done: "Set the password of user {email}.",
  async run(args, console) {
    const { getUser, setPassword } = await service();
    await deliverPassword(args, console, ({ password }) =>
      user.withRecord(args, console, async (ctx, id) => {
        await setPassword(ctx, id, password);
        return getUser(ctx, id);
      }),
    );
  },
});

export const disableCommand = defineAct({
  description: "Disable a user and end all their sessions",
  args: user.args,
  examples: ["bodega user disable -n demo ada@example.com"],
  notes: ["The server applies this to its next request. To undo it: bodega user enable -n <namespace> <user>"],
  done: "Disabled user {email}.",
  act: (ctx, args) => update(ctx, args.user, { status: "disabled" }),
  print: printUser,
});

export const enableCommand = defineAct({
  description: "Enable a disabled user",
  args: user.args,
  examples: ["bodega user enable -n demo ada@example.com"],
  done: "Enabled user {email}.",
  act: (ctx, args) => update(ctx, args.user, { status: "active" }),
  print: printUser,
});

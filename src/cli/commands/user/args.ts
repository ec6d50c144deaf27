import {
  type ArgValues,
  type CommandArgs,
  type FlagArg,
  namespaceArg,
  type PositionalArg,
} from "../../framework/args.ts";

/** The tenant whose users or tokens a command is about. */
export const userNamespaceArg = { ...namespaceArg, required: true } as const satisfies FlagArg;

/** The user that a command is about. */
export const userArg = {
  type: "positional",
  required: true,
  completes: "user",
  description: "Id or email of the user",
} as const satisfies PositionalArg;

/** What can be said of a user besides the email. */
export const userFlags = {
  name: { type: "string", valueHint: "text", allowEmpty: true, description: "Name of the user" },
  phone: { type: "string", valueHint: "number", allowEmpty: true, description: "Telephone number" },
  role: {
    type: "enum",
    options: ["customer", "staff", "owner"],
    description: "Customers buy, staff serve customers, owners also manage staff",
  },
  lang: { type: "string", valueHint: "tag", description: "Language of mail to the user, such as en or pt-BR" },
  "email-verified": {
    type: "enum",
    options: ["yes", "no"],
    description: "Whether the email is known to be the user's",
  },
} as const satisfies CommandArgs;

/** The user's fields as the service takes them; a flag given empty clears its field. */
export function readUserFlags(args: ArgValues<typeof userFlags>) {
  return {
    ...(args.name !== undefined && { name: args.name || null }),
    ...(args.phone !== undefined && { phone: args.phone || null }),
    ...(args.role !== undefined && { role: args.role }),
    ...(args.lang !== undefined && { lang: args.lang }),
    ...(args["email-verified"] !== undefined && { email_verified: args["email-verified"] === "yes" }),
  };
}

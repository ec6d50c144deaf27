import { userColumns } from "../../../server/modules/users/input.ts";
import { parseEmail } from "../../../server/values/email.ts";
import { requireText } from "../../../server/values/text.ts";
import type { ArgValues, CommandArgs } from "../../framework/args.ts";
import { loadCheck, readSecretLine } from "../../secrets/passwords.ts";
import { makePassword } from "../../secrets/random-password.ts";
import type { Console } from "../../terminal/console.ts";
import { askNewPassword } from "../../terminal/prompt.ts";
import { askChoice, askText, introduce } from "./questions.ts";

export const ownerFlags = {
  "owner-email": {
    type: "string",
    valueHint: "address",
    field: "email",
    description: "Email of the owner, who has every permission in the store",
  },
  "owner-name": { type: "string", valueHint: "text", field: "name", description: "Name of the owner" },
  "owner-password-stdin": {
    type: "boolean",
    field: "password",
    description: "Read the owner's password from standard input, as one line",
  },
  "owner-random-password": { type: "boolean", description: "Generate the owner's password and show it once" },
  "owner-password-file": {
    type: "string",
    valueHint: "path",
    completes: "file",
    description: "Generate the owner's password and write it to this new file (mode 0600)",
  },
  owner: { type: "boolean", default: true, description: "Create no owner" },
} as const satisfies CommandArgs;

type OwnerArgs = ArgValues<typeof ownerFlags>;

export interface OwnerAnswer {
  email: string;
  name: string | null;
  password: string;
  isRandom: boolean;
}

/** Errors: validationFailed naming the field. */
export function checkOwnerFlags({ "owner-email": email, "owner-name": name }: OwnerArgs): void {
  userColumns({ ...(email !== undefined && { email }), ...(name !== undefined && { name }) });
}

/** A password is generated when a flag asks for that, or names a file for it. */
export function wantsRandomPassword(args: OwnerArgs): boolean {
  return args["owner-random-password"] || args["owner-password-file"] !== undefined;
}

/** Required flags of the owner that are missing where nobody can be asked. */
export function missingOwnerFlags(args: OwnerArgs): ("owner-email" | "owner-password-stdin")[] {
  const hasPassword = args["owner-password-stdin"] || wantsRandomPassword(args);
  return [
    ...(args["owner-email"] === undefined ? (["owner-email"] as const) : []),
    ...(hasPassword ? [] : (["owner-password-stdin"] as const)),
  ];
}

/** The owner's account. Errors: validationFailed for a weak password. */
export async function takeOwner(args: OwnerArgs, console: Console): Promise<OwnerAnswer> {
  if (args["owner-email"] === undefined) {
    await introduce(console, "The owner has every permission in the store and signs in with email and password.");
  }
  const email = args["owner-email"] ?? (await askText("Owner email", { check: (text) => parseEmail("email", text) }));
  const checkName = (text: string) => requireText("name", text, 200);
  const name =
    args["owner-name"] ??
    (console.canAsk ? await askText("Owner name (optional)", { optional: true, check: checkName }) : "");
  const { password, isRandom } = await takePassword(args, console);
  const { requireStrongPassword } = await import("../../../server/modules/passwords/password-policy.ts");
  requireStrongPassword("password", password);
  return { email, name: name === "" ? null : name, password, isRandom };
}

async function takePassword(args: OwnerArgs, console: Console): Promise<{ password: string; isRandom: boolean }> {
  if (args["owner-password-stdin"]) {
    return { password: await readSecretLine(console, "--owner-password-stdin"), isRandom: false };
  }
  const isRandom =
    wantsRandomPassword(args) ||
    (await askChoice("Owner password", [
      { value: false, name: "type a password" },
      { value: true, name: "generate one and show it once" },
    ]));
  return { password: isRandom ? makePassword() : await askNewPassword(await loadCheck()), isRandom };
}

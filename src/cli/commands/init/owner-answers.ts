import { parseEmail } from "../../../server/values/email.ts";
import { requireText } from "../../../server/values/text.ts";
import { loadCheck, readSecretLine } from "../../secrets/passwords.ts";
import { makePassword } from "../../secrets/random-password.ts";
import type { Console } from "../../terminal/console.ts";
import { askNewPassword } from "../../terminal/prompt.ts";
import type { OwnerAnswer } from "./answers.ts";
import { type InitArgs, wantsRandomPassword } from "./flags.ts";
import { askChoice, askText, beginPart } from "./questions.ts";

/** The account of the store's owner, from the flags and by asking. */
export async function takeOwner(args: InitArgs, console: Console): Promise<OwnerAnswer> {
  if (console.canAsk && args["owner-email"] === undefined)
    await beginPart(console, "The owner may do everything in the store, and signs in with an email and a password.");
  const email =
    args["owner-email"] ?? (await askText("Email of the owner", { check: (text) => parseEmail("email", text) }));
  const name = args["owner-name"] ?? (console.canAsk ? await askName() : "");
  return { email, name: name === "" ? null : name, ...(await takePassword(args, console)) };
}

function askName(): Promise<string> {
  return askText("Name of the owner (may be left empty)", {
    optional: true,
    check: (text) => requireText("name", text, 200),
  });
}

async function takePassword(args: InitArgs, console: Console): Promise<{ password: string; isRandom: boolean }> {
  if (args["owner-password-stdin"])
    return { password: await readSecretLine(console, "--owner-password-stdin"), isRandom: false };
  const isRandom =
    wantsRandomPassword(args) ||
    (await askChoice("Password of the owner", [
      { value: false, name: "type one" },
      { value: true, name: "have one made, shown this once" },
    ]));
  if (isRandom) return { password: makePassword(), isRandom };
  return { password: await askNewPassword(await loadCheck()), isRandom };
}

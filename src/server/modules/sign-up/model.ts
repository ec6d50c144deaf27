import { type Static, Type } from "@sinclair/typebox";
import { input, line, oneOf, output, text } from "../../values/schema.ts";
import { newPassword } from "../users/model.ts";
import { visitorPart } from "../visitors/actor.ts";

const email = text(320);
const newEmail = text(320, undefined, { form: { format: "email" } });
const code = text(64, "The six digits from the mail, as a string, because they may begin with zeros.", {
  examples: ["012345"],
});

export const SignUp = input("SignUp", {
  email: newEmail,
  password: newPassword,
  name: Type.Optional(line(200)),
  visitor: Type.Optional(
    Type.String({
      ...visitorPart.visitor,
      description: "Visitor token. The visitor's likes and bookmarks become the user's. Ignored if it is invalid.",
    }),
  ),
});
export type SignUp = Static<typeof SignUp>;

/** The reply does not depend on whether a user has the address. */
export const SignUpReply = output("SignUpReply", {
  accepted: Type.Literal(true),
  next: oneOf(["verify", "login"], {
    description: "`verify`: the account exists once the mailed code is verified. `login`: the account exists now.",
  }),
});

export const SignUpVerification = input("SignUpVerification", {
  email,
  code,
  password: text(1024, "The password of the sign-up."),
});
export type SignUpVerification = Static<typeof SignUpVerification>;

export const Verified = output("Verified", { verified: Type.Literal(true) });

export const ResendVerification = input("ResendVerification", { email });
export const Accepted = output("Accepted", { accepted: Type.Literal(true) });

export const EmailCode = input("EmailCode", { code });

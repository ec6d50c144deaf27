import { type Static, Type } from "@sinclair/typebox";
import { input, oneOf, output } from "../../values/schema.ts";
import { newPassword } from "../users/model.ts";
import { visitorPart } from "../visitors/actor.ts";

const email = Type.String({ minLength: 1, maxLength: 320 });
const code = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "The six digits from the mail, as a string, because they may begin with zeros.",
  examples: ["012345"],
});

/** The language of the account and of its mail is the common parameter `lang`. */
export const SignUp = input("SignUp", {
  email,
  password: newPassword,
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  visitor: Type.Optional(
    Type.String({
      ...visitorPart.visitor,
      description: "Visitor token. The visitor's likes and bookmarks become the user's. Ignored if it is invalid.",
    }),
  ),
});
export type SignUp = Static<typeof SignUp>;

/** The same reply whether or not a user has the address. */
export const SignUpReply = output("SignUpReply", {
  accepted: Type.Literal(true),
  next: oneOf(["verify", "login"], {
    description: "`verify`: the account exists once the mailed code is verified. `login`: the account exists now.",
  }),
});

export const SignUpVerification = input("SignUpVerification", {
  email,
  code,
  password: Type.String({ minLength: 1, maxLength: 1024, description: "The password of the sign-up." }),
});
export type SignUpVerification = Static<typeof SignUpVerification>;

export const Verified = output("Verified", { verified: Type.Literal(true) });

export const ResendVerification = input("ResendVerification", { email });
export const Accepted = output("Accepted", { accepted: Type.Literal(true) });

export const EmailCode = input("EmailCode", { code });

import { Type } from "@sinclair/typebox";
import { input, languageForm, output, text } from "../../values/schema.ts";
import { newPassword } from "../users/model.ts";

const email = text(320);

export const ForgotPassword = input("ForgotPassword", {
  email,
  language: Type.Optional(
    text(35, "Language of the mail, as a BCP 47 tag. Default: the user's language.", { form: languageForm }),
  ),
});

/** The same reply whether or not a user has the address (specification, section 4). */
export const ForgotPasswordReply = output("ForgotPasswordReply", { accepted: Type.Literal(true) });

export const ResetPassword = input("ResetPassword", {
  email,
  code: text(64, "The six digits from the mail, as a string, because they may begin with zeros.", {
    examples: ["012345"],
  }),
  password: newPassword,
});

export const ResetPasswordReply = output("ResetPasswordReply", { password_changed: Type.Literal(true) });

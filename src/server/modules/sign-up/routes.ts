import { Type } from "@sinclair/typebox";
import { app, defineRoute, reply, replyAfter } from "../../http/route.ts";
import { Accepted, input, line, oneOf, output, text } from "../../values/schema.ts";
import { newPassword } from "../users/model.ts";
import { visitorPart } from "../visitors/actor.ts";
import { resendSignUpCode, signUp, verifySignUp } from "./service.ts";

const email = text(320);
const newEmail = text(320, undefined, { form: { format: "email" } });
export const code = text(64, "The six digits from the mail, as a string, because they may begin with zeros.", {
  examples: ["012345"],
});

export const visitor = Type.Optional(
  Type.String({
    ...visitorPart.visitor,
    description: "Visitor token. The visitor's likes and bookmarks become the user's. An invalid token is ignored.",
  }),
);

const SignUp = input("SignUp", { email: newEmail, password: newPassword, name: Type.Optional(line(200)), visitor });

/** The reply does not depend on whether a user has the address. */
const SignUpReply = output("SignUpReply", {
  accepted: Type.Literal(true),
  next: oneOf(["verify", "login"], {
    description: "`verify`: the account is created once the mailed code is verified. `login`: the account exists now.",
  }),
});

const SignUpVerification = input("SignUpVerification", {
  email,
  code,
  password: text(1024, "The password of the sign-up."),
});

const Verified = output("Verified", { verified: Type.Literal(true) });

const ResendVerification = input("ResendVerification", { email });

export const EmailCode = input("EmailCode", { code });

const customers = { tag: "Users", access: [app("customers:sign-up")], secret: true } as const;

export const signUpRoutes = [
  defineRoute("POST", "/users/sign-up/", "signUp", {
    ...customers,
    summary: "Sign a customer up",
    body: SignUp,
    reply: { data: SignUpReply },
    errors: ["tooManyAttempts", "tooManyRequests", "weakPassword"],
    handle: async ({ ctx, body, lang }) => reply({ accepted: true, next: await signUp(ctx, { ...body, lang }) }),
  }),
  defineRoute("POST", "/users/verify/", "verifySignUp", {
    ...customers,
    summary: "Verify a sign-up with the mailed code",
    isAttempt: true,
    body: SignUpVerification,
    reply: { data: Verified },
    errors: ["tooManyAttempts", "resetCodeInvalid"],
    handle: ({ ctx, body }) => replyAfter(verifySignUp(ctx, body), { verified: true }),
  }),
  defineRoute("POST", "/users/verify/resend/", "resendSignUpCode", {
    ...customers,
    summary: "Mail another code for a sign-up",
    body: ResendVerification,
    reply: { data: Accepted },
    errors: ["tooManyRequests"],
    handle: ({ ctx, body, lang }) => replyAfter(resendSignUpCode(ctx, { ...body, lang }), { accepted: true }),
  }),
];

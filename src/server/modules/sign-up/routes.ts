import { app, defineRoute, reply, replyAfter } from "../../http/route.ts";
import { Accepted, ResendVerification, SignUp, SignUpReply, SignUpVerification, Verified } from "./model.ts";
import { resendSignUpCode, signUp, verifySignUp } from "./service.ts";

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

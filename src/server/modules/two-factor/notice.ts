import type { Ctx } from "../../context.ts";
import { queueMail } from "../mail/outbox.ts";
import type { SignInUser } from "../users/credentials.ts";

/**
 * Lets a user know that their second factor was changed, at the address that they have now: whoever did it may change that
 * next. In the transaction of the act.
 */
export async function tellOfChange(ctx: Ctx, user: SignInUser, state: "enabled" | "disabled"): Promise<void> {
  const { email, name, lang } = user;
  await queueMail(ctx, { kind: "two_factor_changed", to: { email, name, lang }, values: { state } });
}

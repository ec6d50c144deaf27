import { address } from "../address.js";
import { take, toast } from "../dom.js";
import { mailNote, newPassword, nextStep, onSubmit, resendButton } from "../form.js";
import { shop } from "../shop.js";
import { t } from "../words.js";
import { goOn } from "./sign-in.js";

export async function show({ query }) {
  const next = query.get("next");
  const content = take("sign-up", { known: { href: address("sign-in", { next }) }, password: newPassword() });
  onSubmit(content, async (account) => {
    const { next: then } = await shop.auth.signUp(account);
    if (then === "login") await enter(account, next);
    else nextStep(content, codeStep(account, next));
  });
  return content;
}

function codeStep({ email, password }, next) {
  const content = take("code-step", {
    lead: t("code.sent", { email }),
    mail: mailNote(),
    resend: resendButton(() => shop.auth.resendCode({ email })),
  });
  onSubmit(content, async ({ code }) => {
    await shop.auth.verify({ email, password, code });
    await enter({ email, password }, next);
  });
  return content;
}

async function enter({ email, password }, next) {
  await shop.auth.login({ email, password });
  goOn(next);
  toast(t("signUp.done"));
}

import { address } from "../address.js";
import { slot, take, toast } from "../dom.js";
import { mailNote, nextStep, onSubmit, resendButton } from "../form.js";
import { shop } from "../shop.js";
import { t } from "../words.js";
import { goOn } from "./sign-in.js";

/** Signs a customer up: first the account, then the code that was mailed. `?step=code` is for those who come back later. */
export async function show({ query }) {
  const next = query.get("next");
  if (query.get("step") === "code") return codeStep(null, next);
  const kept = next ? { next } : {};
  const content = take("sign-up", {
    known: { href: address("sign-in", kept) },
    later: { href: address("sign-up", { step: "code", ...kept }) },
  });
  onSubmit(slot(content, "form"), async (account) => {
    const { next: then } = await shop.auth.signUp(account);
    if (then === "login") await enter(account, next);
    else nextStep(content, codeStep(account, next));
  });
  return content;
}

/** The account exists once the code comes with the password of the sign-up, so the page keeps the password until then. */
function codeStep(account, next) {
  const content = take("sign-up-code", {
    lead: account ? t("code.sent", { email: account.email }) : t("signUp.later"),
    mail: mailNote(),
    account: !account && take("account-fields"),
    resend: account && resendButton(() => shop.auth.resendCode({ email: account.email })),
  });
  onSubmit(slot(content, "form"), async (values) => {
    const { email, password, code } = { ...account, ...values };
    await shop.auth.verify({ email, password, code });
    await enter({ email, password }, next);
  });
  return content;
}

async function enter({ email, password }, next) {
  await shop.auth.login({ email, password });
  toast(t("signUp.done"));
  goOn(next);
}

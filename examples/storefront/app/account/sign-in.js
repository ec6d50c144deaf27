import { address, go } from "../address.js";
import { slot, take } from "../dom.js";
import { onClick } from "../errors.js";
import { checkField, mailNote, nextStep, onSubmit, resendButton } from "../form.js";
import { shop } from "../shop.js";
import { readStore } from "../store.js";
import { t } from "../words.js";

export async function show({ query }) {
  const next = query.get("next");
  const { sign_in_by_mail: isByMail } = await readStore();
  const content = take("sign-in", {
    first: next && {},
    email: { value: query.get("email") },
    "by-mail": isByMail && {},
    "sign-up": { href: address("sign-up", { next }) },
  });
  onSignIn(content, next);
  if (isByMail) {
    onClick(slot(content, "by-mail"), async () => {
      const field = slot(content, "email");
      if (!checkField(field)) return field.focus();
      const email = field.value.trim();
      await shop.auth.mailCode({ email });
      nextStep(content, codeStep(email, next));
    });
  }
  return content;
}

function codeStep(email, next) {
  const content = take("code-step", {
    lead: t("code.sent", { email }),
    mail: mailNote(),
    resend: resendButton(() => shop.auth.mailCode({ email })),
  });
  onSignIn(content, next, { email });
  return content;
}

function onSignIn(content, next, known) {
  onSubmit(content, async (values) => {
    try {
      await shop.auth.login({ ...known, ...values });
      goOn(next);
    } catch (error) {
      if (error.code !== 5211) throw error;
      slot(content, "otp").replaceChildren(take("otp"));
      content.querySelector("[name=otp]").focus();
    }
  });
}

/** Opens a page of this shop, never of another site. */
export function goOn(next) {
  go(next?.startsWith("#/") ? next : "#/account", { replace: true });
}
